import type { SurveyType } from '../survey-types.ts';
import type { CategoryName } from '../web/app/badges.tsx';
import type { FormState } from '../web/app/forms.tsx';
import type { FilterChoices, OtherResponse, ResponseOrigin } from './screens/paths.ts';

export type ShownResponse = {
  id: string;
  survey_id: string;
  survey_name: string;
  survey_type: SurveyType;
  score: number;
  category: CategoryName;
  comment: string | null;
  ai_sentiment: string | null;
  ai_themes: string[];
  ai_churn_risk: string | null;
  ai_summary: string | null;
  held: boolean;
  created_at: string;
  contact_email: string | null;
  contact_name: string | null;
  language: string | null;
  properties: Record<string, unknown>;
  tags: { id: string; name: string; color: string }[];
  state: 'open' | 'done' | null;
  owner: string | null;
  notes?: { id: string; text: string; author: string; created_at: string }[];
};

export const personOf = ({ contact_name, contact_email }: ShownResponse) =>
  contact_name ?? contact_email ?? 'Anonymous';

export type ResponsePlace = { path: string; query: string };

export type DetailProps = {
  response: ShownResponse;
  origin: ResponseOrigin;
  others: readonly OtherResponse[];
  choices: FilterChoices;
  path: string;
  query: string;
  editor: string | null;
  note: FormState;
};
