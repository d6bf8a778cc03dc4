import { number, type Section, table, verdict } from './report.ts';
import { contactsPerRequest, requestsAtOnce, type SendScene, withSendScene } from './send-scene.ts';

const rounds = 10;
const mailsPerRound = requestsAtOnce * contactsPerRequest;
/** By then the heap has found its size. */
const steadyAfter = 4;
const mayGrow = 1.1;

/** What stays in memory of many mails: nothing, once the heap has found its size. */
export async function steady(server: string): Promise<Section[]> {
  const requests = rounds * requestsAtOnce;
  const resident = await withSendScene(server, { requests }, measure);
  return [{ title: `Memory over ${number(rounds * mailsPerRound)} mails`, lines: lines(resident) }];
}

async function measure({ service, askMany }: SendScene): Promise<number[]> {
  const resident = [service.residentMegabytes() ?? Number.NaN];
  for (let round = 1; round <= rounds; round += 1) {
    await askMany();
    resident.push(service.residentMegabytes() ?? Number.NaN);
    console.error(`${number(round * mailsPerRound)} mails: ${number(resident.at(-1)!)} MB`);
  }
  return resident;
}

function lines(resident: readonly number[]): string[] {
  const most = Math.max(...resident.slice(0, steadyAfter + 1));
  const last = Math.max(...resident.slice(steadyAfter + 1));
  const flat = verdict(last <= most * mayGrow);
  const rows = resident.map((megabytes, round) => [
    number(round * mailsPerRound),
    `${number(megabytes)} MB`,
  ]);
  return [
    ...table(['mails sent', 'resident'], rows),
    '',
    `Expected to be flat from ${number(steadyAfter * mailsPerRound)} mails on, within a tenth: ${flat}.`,
  ];
}
