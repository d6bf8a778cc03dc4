/** Text in the few marks our own descriptions use: paragraphs, `## ` headings and `code`. */
export const Words = ({ text }: { text: string }) => (
  <>
    {text.split(/\n\n+/).map((block) => {
      const [first = '', ...rest] = block.split('\n');
      if (!first.startsWith('## ')) return <Paragraph text={block} />;
      return (
        <>
          <h2>{first.slice(3)}</h2>
          <Paragraph text={rest.join('\n')} />
        </>
      );
    })}
  </>
);

const Paragraph = ({ text }: { text: string }) => (
  <p>{text.split('`').map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</p>
);
