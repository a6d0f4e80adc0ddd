/** Descriptions of the tools for remote sub-agents. */
export const REMOTE_TOOLS = {
  start_async_task:
    "Gives a task to an agent on another server, which works in the background. Answers at once with a taskId: tell the user, and check it when a result is asked for. Agents:",
  check_async_task: "The status of such a task, and its result once it has one.",
  update_async_task: "Sends more instructions to the agent of a task; what it is doing is interrupted.",
  cancel_async_task: "Ends a task.",
  list_async_tasks: "All tasks with their status: running, success, error, cancelled or all (statusFilter).",
};
