/** Descriptions of the tools for remote sub-agents. */
export const REMOTE_TOOLS = {
  start_async_task:
    "Gives a task to an agent on another server, which works in the background. Answers at once with a taskId: tell the user, and check it when a result is asked for. Agents:",
  check_async_task: "The status of such a task, and its result once it has one.",
  update_async_task: "Sends more instructions to the agent of a task; what it is doing is interrupted.",
  cancel_async_task: "Ends a task.",
  list_async_tasks: "All tasks with their status: running, success, error, cancelled or all (statusFilter).",
};
/** Stands before the memory files in the system prompt; `{paths}` are the files. */
export const MEMORY =
  "Your memory is in these files: {paths}. When the user corrects you, or tells you a preference or a fact that will hold in later conversations, save it there with edit_file (or write_file for a new file) before you continue. Save the reason too. Never save secrets or what matters only now.";
