import { writeFileSync } from 'node:fs';
import { allTexts, keptTexts } from './texts.ts';

writeFileSync(keptTexts, `${(await allTexts()).join('\n')}\n`);
