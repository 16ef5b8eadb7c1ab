// The language model that drafts for agents: which one, whether it answers, and what it used.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { messageOf } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Banner, Empty } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { AiModel } from '../../records.ts';
import { readMe } from '../../session.ts';
import { Part, Reading } from '../parts.tsx';

const number = new Intl.NumberFormat();

export function AssistantSettings(): JSX.Element {
  const model = useResource<AiModel>((signal) => call('GET', '/workspace/ai', { signal }), []);
  const keep = (saved: AiModel): void => {
    model.set(saved);
    // The inbox shows the assistant only where there is one.
    void readMe();
  };
  return (
    <>
      <Part
        id="assistant"
        title="Assistant"
        intro="A language model drafts answers from your knowledge base, summarises and rewrites. It sends nothing by itself, unless you let it answer the customers of a site, in that site’s settings. What it is asked, with the customer’s messages, goes to the server below."
      >
        {model.value === undefined ? (
          <Reading failure={model.failure} retry={model.reload} />
        ) : model.value.source === 'environment' ? (
          <>
            <p class="soft">
              {model.value.isReady
                ? `The operator of this server has chosen the model ${model.value.model ?? ''} for everyone.`
                : 'The operator of this server has turned the assistant off.'}
            </p>
            {model.value.isReady && <TryModel />}
          </>
        ) : (
          <>
            <ModelForm key={model.value.source} model={model.value} onSaved={keep} />
            {model.value.isReady && <TryModel />}
          </>
        )}
      </Part>
      {model.value?.isReady === true && <Usage model={model.value} />}
    </>
  );
}

const valuesOf = ({ url, model, tokensPerDay }: AiModel) => ({
  url: url ?? '',
  model: model ?? '',
  key: '',
  tokensPerDay: String(tokensPerDay ?? 1_000_000),
});

function ModelForm({
  model,
  onSaved,
}: {
  readonly model: AiModel;
  readonly onSaved: (model: AiModel) => void;
}): JSX.Element {
  const [removing, setRemoving] = useState(false);
  const form = useForm(valuesOf(model), async ({ url, model: name, key, tokensPerDay }) => {
    const saved = await call<AiModel>('PUT', '/workspace/ai', {
      body: {
        url: url.trim(),
        model: name.trim(),
        ...(key === '' ? {} : { key }),
        tokensPerDay: Number(tokensPerDay),
      },
    });
    form.reset(valuesOf(saved));
    onSaved(saved);
    notify({ kind: 'done', text: 'Saved. Try it now.' });
  });
  const { values } = form;
  const remove = async (): Promise<void> => {
    setRemoving(true);
    try {
      onSaved(await call<AiModel>('PUT', '/workspace/ai', { body: { url: null } }));
    } catch (error) {
      notifyFailure(error);
    }
    setRemoving(false);
  };
  return (
    <Form
      form={form}
      label="Language model"
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy}>
            Save
          </Button>
          {model.source === 'workspace' && (
            <Button kind="quiet" busy={removing} onClick={() => void remove()}>
              Stop using it
            </Button>
          )}
        </>
      }
    >
      <TextField
        label="Address"
        required
        type="url"
        placeholder="http://localhost:11434/v1"
        spellcheck={false}
        value={values.url}
        onValue={(url) => form.set('url', url)}
        error={form.errorOf('url')}
        hint="Of any server with the chat-completions protocol: Ollama, llama.cpp, vLLM, OpenAI, Mistral and others."
      />
      <div class="columns">
        <TextField
          label="Model"
          required
          spellcheck={false}
          value={values.model}
          onValue={(name) => form.set('model', name)}
          error={form.errorOf('model')}
        />
        <TextField
          label="Key"
          type="password"
          optional
          autocomplete="new-password"
          placeholder={model.hasKey ? 'Kept as it is' : ''}
          value={values.key}
          onValue={(key) => form.set('key', key)}
          error={form.errorOf('key')}
        />
      </div>
      <TextField
        label="Tokens a day, at most"
        required
        inputMode="numeric"
        value={values.tokensPerDay}
        onValue={(tokensPerDay) => form.set('tokensPerDay', tokensPerDay)}
        error={form.errorOf('tokensPerDay')}
        hint="A draft takes about 2,000. A new day begins at midnight, UTC."
      />
    </Form>
  );
}

function TryModel(): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<{ readonly isGood: boolean; readonly text: string } | undefined>(undefined);
  const ask = async (): Promise<void> => {
    setBusy(true);
    setOutcome(undefined);
    try {
      const { text } = await call<{ text: string }>('POST', '/workspace/ai/test', { timeoutMs: 100_000 });
      setOutcome({ isGood: true, text: `It answers: ${text}` });
    } catch (error) {
      setOutcome({ isGood: false, text: messageOf(error) });
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      <div class="row">
        <Button busy={busy} onClick={() => void ask()}>
          Try it
        </Button>
      </div>
      <div role="status">
        {outcome !== undefined && <Banner kind={outcome.isGood ? 'good' : 'bad'}>{outcome.text}</Banner>}
      </div>
    </div>
  );
}

function Usage({ model: { usage, tokensPerDay } }: { readonly model: AiModel }): JSX.Element {
  return (
    <Part id="usage" title="Use" intro={`At most ${number.format(tokensPerDay ?? 0)} tokens a day. Days are in UTC.`}>
      {usage.length === 0 ? (
        <Empty icon="chart" title="Not used yet" />
      ) : (
        <div class="table-box">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col" class="number">
                  Requests
                </th>
                <th scope="col" class="number">
                  Tokens
                </th>
              </tr>
            </thead>
            <tbody>
              {usage.map(({ day, requests, tokensIn, tokensOut }) => (
                <tr key={day}>
                  <td>{day}</td>
                  <td class="number">{number.format(requests)}</td>
                  <td class="number">{number.format(tokensIn + tokensOut)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Part>
  );
}
