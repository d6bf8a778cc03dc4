import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact, redactedExcerpt } from '../../../src/lib/redact/redact.ts';

/** The contact of every comment. */
const known = { names: ['Ines Delvaux'], emails: [] };

/** Ten comments per language. Comments without a pair stay unchanged. */
const comments: Record<string, (string | [comment: string, redacted: string])[]> = {
  en: [
    'The export was slow and the report came a day late.',
    'Click here, they said, and nothing happened.',
    ['We waited twice, and Priya Raman never came.', 'We waited twice, and [name] never came.'],
    [
      'Your driver Ahmed called and was very friendly.',
      'Your driver [name] called and was very friendly.',
    ],
    ['I asked Ines, she knows what went wrong.', 'I asked [name], she knows what went wrong.'],
    'It is slow in Paris on Monday, and Excel crashes.',
    ['My number is +49 30 1234567, please call.', 'My number is [phone], please call.'],
    'Great service, but the price is too high for what you get.',
    [
      'Please write to ann@acme.test about the invoice.',
      'Please write to [email] about the invoice.',
    ],
    'The new release is better than the old one.',
  ],
  de: [
    [
      'Der Händler in Kiel war unfreundlich. Meine Nummer: 0431 998877, ich bin Anna-Lena Böhm.',
      'Der Händler in Kiel war unfreundlich. Meine Nummer: [phone], ich bin [name].',
    ],
    'Die Lieferung kam zu spät und der Karton war beschädigt.',
    ['Frau Müller am Telefon war sehr nett.', 'Frau [name] am Telefon war sehr nett.'],
    ['Herr Dr. von der Heide hat nicht geantwortet.', 'Herr [name] hat nicht geantwortet.'],
    'Ich bin Kunde seit zehn Jahren und sehr zufrieden.',
    ['Leider kein Rückruf. Viele Grüße, Jonas Weber', 'Leider kein Rückruf. Viele Grüße, [name]'],
    [
      'Mein Name ist Delvaux, die Rechnung ist falsch.',
      'Mein Name ist [name], die Rechnung ist falsch.',
    ],
    'Händler unfreundlich, Ware schlecht.',
    [
      'Ines hat das Fahrrad schon zweimal gebracht.',
      '[name] hat das Fahrrad schon zweimal gebracht.',
    ],
    'Das neue Rad ist super, nur der Sattel ist zu hart.',
  ],
  fr: [
    'La livraison est arrivée en retard et le carton était abîmé.',
    ['Madame Lefèvre a été très aimable.', 'Madame [name] a été très aimable.'],
    [
      'Bonjour, je suis Marie Dupont et je veux annuler.',
      'Bonjour, je suis [name] et je veux annuler.',
    ],
    ['Je m’appelle Karim, merci de me rappeler.', 'Je m’appelle [name], merci de me rappeler.'],
    'Le magasin de Lyon est fermé le Lundi.',
    ['M. de la Tour ne répond pas.', 'M. [name] ne répond pas.'],
    'Très bon produit, mais le prix est trop élevé.',
    ['Appelez le 06 12 34 56 78 pour la facture.', 'Appelez le [phone] pour la facture.'],
    ['Delvaux est mon nom, pas Delvau.', '[name] est mon nom, pas Delvau.'],
    'Je suis déçue par la qualité des Produits.',
  ],
  es: [
    'El envío llegó tarde y la caja estaba rota.',
    ['La señora García fue muy amable.', 'La señora [name] fue muy amable.'],
    ['Hola, soy Lucía Fernández y quiero cancelar.', 'Hola, soy [name] y quiero cancelar.'],
    ['Me llamo Pablo y no funciona nada.', 'Me llamo [name] y no funciona nada.'],
    'La tienda de Sevilla es muy bonita.',
    ['El Sr. Ortega no me ha llamado.', 'El Sr. [name] no me ha llamado.'],
    'Buen producto, pero muy caro para lo que es.',
    ['Escriban a lucia@correo.test, por favor.', 'Escriban a [email], por favor.'],
    ['Ines es mi nombre, con la factura de mayo.', '[name] es mi nombre, con la factura de mayo.'],
    'Soy cliente desde hace diez años.',
  ],
  it: [
    'La consegna è arrivata tardi e la scatola era rotta.',
    ['La signora Bianchi è stata molto gentile.', 'La signora [name] è stata molto gentile.'],
    ['Sono Marco Rossi e non funziona.', 'Sono [name] e non funziona.'],
    ['Mi chiamo Giulia, grazie per la risposta.', 'Mi chiamo [name], grazie per la risposta.'],
    'Il negozio di Torino è chiuso.',
    ['Il dottor De Luca non risponde.', 'Il dottor [name] non risponde.'],
    'Ottimo prodotto, ma il prezzo è alto.',
    ['Chiamate il 06 1234 5678 per la fattura.', 'Chiamate il [phone] per la fattura.'],
    ['Delvaux non è mai stata richiamata.', '[name] non è mai stata richiamata.'],
    'Sono molto contenta della qualità.',
  ],
  nl: [
    'De levering was te laat en de doos was kapot.',
    ['Mevrouw Jansen was heel aardig.', 'Mevrouw [name] was heel aardig.'],
    ['Ik ben Pieter de Vries en wil opzeggen.', 'Ik ben [name] en wil opzeggen.'],
    ['Mijn naam is Sanne, graag een antwoord.', 'Mijn naam is [name], graag een antwoord.'],
    'De winkel in Utrecht is gesloten op Zondag.',
    ['De heer van den Berg heeft niet gebeld.', 'De heer [name] heeft niet gebeld.'],
    'Goed product, maar te duur voor wat het is.',
    ['Bel 030 123 45 67 voor de factuur.', 'Bel [phone] voor de factuur.'],
    ['Ines heeft geen antwoord gekregen.', '[name] heeft geen antwoord gekregen.'],
    'Ik ben tevreden met de Service van het bedrijf.',
  ],
};

for (const [language, list] of Object.entries(comments)) {
  for (const entry of list) {
    const [comment, redacted] = typeof entry === 'string' ? [entry, entry] : entry;
    test(`${language}: ${JSON.stringify(comment.slice(0, 50))} is redacted`, async () => {
      assert.equal(await redact(comment, { ...known, language }), redacted);
      assert.equal(await redactedExcerpt(comment, { ...known, language }), redacted.slice(0, 100));
    });
  }
}

test('the words of a comment decide its language before its page', async () => {
  const german = 'Der Händler war unfreundlich, und die Ware ist schlecht.';
  assert.equal(await redact(german, { ...known, language: 'en' }), german);
  const english = 'It was Priya Raman who helped';
  assert.equal(await redact(english, { ...known, language: 'de' }), 'It was [name] who helped');
  assert.equal(
    await redact('Händler unfreundlich', { ...known, language: 'de-AT' }),
    'Händler unfreundlich',
  );
});
