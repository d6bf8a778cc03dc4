/** The processor time that the calling thread has used since now: what other threads do is not in it. */
export function readerOfThisThread() {
  const begun = process.threadCpuUsage();
  return {
    ms: () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system - begun.user - begun.system) / 1000;
    },
  };
}
