/** Does some work with another `process.platform`. */
export async function onPlatform<T>(platform: NodeJS.Platform, work: () => T | Promise<T>): Promise<T> {
  const own = Object.getOwnPropertyDescriptor(process, "platform")!;
  Object.defineProperty(process, "platform", { ...own, value: platform });
  try {
    return await work();
  } finally {
    Object.defineProperty(process, "platform", own);
  }
}
