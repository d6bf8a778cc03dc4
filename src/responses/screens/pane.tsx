import type { Child } from 'hono/jsx';
import { assetUrl } from '../../web/app/assets.ts';

/** The list, and room for one response of it, which a script fills where the screen is wide enough. */
export const Split = ({ children }: { children: Child }) => (
  <div class="part columns split">
    <div class="list-pane">{children}</div>
    <section class="answer pane" id="answer" aria-label="The chosen response" tabindex={-1}>
      <p class="soft">Choose a response to read it here.</p>
      <p class="small soft">
        In the list, the keys j and k lead down and up, Enter goes to the response, and Escape back.
      </p>
    </section>
    <script src={assetUrl('split.js')} type="module" />
  </div>
);

type PaneProps = {
  /** The list that it belongs next to, with its filters. */
  list: string;
  /** The id of what names it. */
  labelledBy?: string;
  /** Said aloud when it was swapped. */
  says: string;
  children: Child;
};

/** What a page about one response is made of; on a wide screen a script puts it next to its list. */
export const Pane = ({ list, labelledBy, says, children }: PaneProps) => (
  <section
    class="answer pane"
    id="answer"
    aria-label={labelledBy ? undefined : 'The chosen response'}
    aria-labelledby={labelledBy}
    tabindex={-1}
    data-list={list}
    data-says={says}
  >
    <p class="back">
      <a class="more" href={list}>
        Back to the list
      </a>
    </p>
    {children}
    <script src={assetUrl('split.js')} type="module" />
  </section>
);
