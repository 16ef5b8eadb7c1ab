// From which score on a passage counts as an answer.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { notify } from '../../notices.ts';
import type { KbSettings } from '../../records.ts';
import { hasRole } from '../../session.ts';
import { Part, Reading } from '../parts.tsx';

export function Threshold(): JSX.Element {
  const { value, failure, reload } = useResource<KbSettings>((signal) => call('GET', '/kb/settings', { signal }), []);
  return (
    <Part
      id="threshold"
      title="When a passage counts as an answer"
      intro="Each passage has a likelihood that it answers the question. Below this one, the answer is that nothing is known. Try questions first."
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} what="Knowledge bases" />
      ) : hasRole('admin') ? (
        <ThresholdForm key={value.threshold} threshold={value.threshold} />
      ) : (
        <p>{Math.round(value.threshold * 100)} %</p>
      )}
    </Part>
  );
}

function ThresholdForm({ threshold }: Pick<KbSettings, 'threshold'>): JSX.Element {
  const form = useForm({ threshold: String(Math.round(threshold * 100)) }, async (values) => {
    await call('PATCH', '/kb/settings', { body: { threshold: Number(values.threshold) / 100 } });
    form.reset(values);
    notify({ kind: 'done', text: 'Saved.' });
  });
  return (
    <Form
      form={form}
      label="When a passage counts as an answer"
      actions={
        <Button type="submit" kind="primary" busy={form.busy}>
          Save
        </Button>
      }
    >
      <TextField
        label="Likelihood in percent"
        type="number"
        min={0}
        max={100}
        value={form.values.threshold}
        onValue={(next) => form.set('threshold', next)}
        error={form.errorOf('threshold')}
        hint="0 to 100. Usually 15."
      />
    </Form>
  );
}
