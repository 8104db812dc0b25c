// Times, as a person reads them. What has expired is for the service to say; these are for the eye.

const SECOND = 1000,
  MINUTE = 60 * SECOND,
  HOUR = 60 * MINUTE,
  DAY = 24 * HOUR;

/** Below this a countdown is in seconds, and looks urgent. */
export const SOON = 10 * MINUTE;

// By how much this browser's clock is behind the server's.
let behind = 0;

/** Takes the server's time, which is in whole seconds: less than that is no difference. */
export function setClock(date) {
  const difference = Date.parse(date) - Date.now();
  if (!Number.isNaN(difference)) behind = Math.abs(difference) < 2 * SECOND ? 0 : difference;
}

export const now = () => Date.now() + behind;

/** How long until then, in milliseconds; for ever if there is no end. */
export const until = (time) => (time ? Date.parse(time) - now() : Infinity);

export function countdown(left) {
  const whole = (unit) => Math.floor(left / unit);
  if (left === Infinity) return "no end";
  if (left <= 0) return "time is up";
  if (left < SOON) return `${whole(MINUTE)}:${String(Math.floor((left % MINUTE) / SECOND)).padStart(2, "0")}`;
  if (left < HOUR) return `${whole(MINUTE)} min`;
  if (left < DAY) return `${whole(HOUR)} h ${Math.floor((left % HOUR) / MINUTE)} min`;
  return `${whole(DAY)} d ${Math.floor((left % DAY) / HOUR)} h`;
}

export function ago(time) {
  const passed = now() - Date.parse(time);
  const [size, unit] =
    [
      [DAY, "day"],
      [HOUR, "hour"],
      [MINUTE, "minute"],
    ].find(([size]) => passed >= size) ?? [];
  if (!unit) return "just now";
  const count = Math.floor(passed / size);
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const at = (time) => (time ? moment.format(Date.parse(time)) : "");
export const atClock = (time) => (time ? clock.format(Date.parse(time)) : "");
