import * as v from 'valibot';
import manifest from '../../package.json' with { type: 'json' };
import { finding } from './findings.ts';

const timeoutMs = 3000;
const maxBytes = 1_000_000;

/** `latest.json` of a release, or the answer of GitHub about the latest release. */
const Latest = v.pipe(
  v.union([v.object({ version: v.string() }), v.object({ tag_name: v.string() })]),
  v.transform((latest) =>
    'version' in latest ? latest.version : latest.tag_name.replace(/^v/, ''),
  ),
  v.regex(/^\d+\.\d+\.\d+$/),
);

/** Asks for the latest version only if the operator has set an address. The request carries nothing about this installation. */
export async function examineUpdate(url: string | null | undefined, own = manifest.version) {
  if (!url) return [];
  try {
    const response = await fetch(url, {
      headers: { 'User-Agent': 'askback' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const text = (await response.text()).slice(0, maxBytes);
    const latest = v.parse(Latest, JSON.parse(text));
    const isNewer = latest.localeCompare(own, 'en', { numeric: true }) > 0;
    return [
      isNewer
        ? finding('update', 'warn', `askback ${latest} is available, and ${own} is running`)
        : finding('update', 'ok', `askback ${own} is the latest version`),
    ];
  } catch {
    return [
      finding('update', 'warn', `ASKBACK_UPDATE_URL: ${url} does not return the latest version`),
    ];
  }
}
