-- Run at each start, by one process at a time: everything here may be there already.

-- The deliveries that were handled, by their id. What is older than the service tries again may be deleted.
CREATE TABLE IF NOT EXISTS shadway_deliveries (
    id          text PRIMARY KEY,
    handled_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- How far a stream was read, and by whom. Each election raises the epoch.
CREATE TABLE IF NOT EXISTS shadway_streams (
    stream      text PRIMARY KEY,
    position    text,
    epoch       bigint NOT NULL,
    reader      text NOT NULL DEFAULT current_setting('application_name'),
    elected_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What was read, in that order, and what became of it.
CREATE TABLE IF NOT EXISTS shadway_events (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          text NOT NULL UNIQUE,
    mandate     text NOT NULL,
    -- `json` keeps it as it came, to the last digit; `jsonb` would not.
    event       json NOT NULL,
    -- The epoch of the reader that wrote it.
    epoch       bigint NOT NULL,
    read_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at     timestamptz,
    done_by     text,
    -- How often handling it failed, why the last time, and when it is tried again.
    failures    integer NOT NULL DEFAULT 0,
    failure     text,
    try_at      timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE INDEX IF NOT EXISTS shadway_events_open ON shadway_events (number) WHERE done_at IS NULL;
CREATE INDEX IF NOT EXISTS shadway_events_open_of_mandate ON shadway_events (mandate, number) WHERE done_at IS NULL;

-- What an event leads to here. It has no key: an event handled twice would have two lines.
CREATE TABLE IF NOT EXISTS ledger (
    event       text NOT NULL,
    mandate     text NOT NULL,
    type        text NOT NULL,
    written_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
