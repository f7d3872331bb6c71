/** What threads are called outside of the timeline, where nothing else tells which one it is. */

/** The thread whose calls or events are on a row; with its process where there are several. */
export function threadName(data, index) {
  const row = data.rows[index];
  if (!row) return "";
  const process = data.meta.processes[row.process];
  const thread = `${row.thread ?? row.name ?? ""} ${row.tid ?? ""}`.trim();
  return data.meta.processes.length > 1 ? `${processName(process)}: ${thread}` : thread;
}

export function processName(process) {
  if (!process) return "unknown process";
  return process.pid === null ? process.name : `${process.name} ${process.pid}`;
}
