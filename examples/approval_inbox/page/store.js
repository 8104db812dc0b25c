// The approvals that this page knows of, and which of them are looked at.

import { standing } from "./approval.js";
import { until } from "./time.js";

const approvals = new Map();

/** The tab, the mandate ("" is all of them), and the id of the approval that is open. */
export const view = { tab: "pending", mandate: "", open: null };

export const all = () => [...approvals.values()];

/** Takes in a row; one that is settled stays so, whatever arrives late. Gives what was known before. */
export function take(row) {
  const before = approvals.get(row.id);
  if (!before || before.status === "pending" || row.status !== "pending") {
    const objective = row.objective ?? before?.objective ?? null;
    // What was found out about its time holds for as long as that stays the same.
    const { lapsed, outlived } = before?.expiresAt === row.expiresAt ? before : {};
    approvals.set(row.id, { lapsed, outlived, ...row, objective });
  }
  return before;
}

const TABS = { pending: "pending", expired: "expired" };
export const tabOf = (row) => TABS[standing(row)] ?? "decided";

/** What a tab holds: what waits for a decision with the soonest end first, all else with the latest first. */
export function inTab(tab) {
  const rows = all().filter((row) => (!view.mandate || row.mandate === view.mandate) && tabOf(row) === tab);
  return rows.sort(tab === "pending" ? soonestFirst : latestFirst);
}

const soonestFirst = (one, other) =>
  order(until(one.expiresAt), until(other.expiresAt)) || order(one.id, other.id);
const latestFirst = (one, other) => order(time(other), time(one)) || order(one.id, other.id);
const time = (row) => Date.parse(row.resolvedAt ?? row.expiresAt ?? row.createdAt ?? 0);
const order = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
