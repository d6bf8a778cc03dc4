/**
 * A larger young generation than V8's initial 1 MB saves a tenth of the start, because most objects of a start survive and
 * would be copied repeatedly. With 8 MB emails get slower, because it exceeds the CPU caches. V8 rejects compiled code
 * from a process with other options.
 */
export const v8Options = ['--min-semi-space-size=4'];
