// The embedding model: which one searches, better ones with their size, and the way to one of them: its download and the
// documents that it has embedded.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Badge } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import { notifyFailure } from '../../notices.ts';
import type { KbModels } from '../../records.ts';
import { hasRole } from '../../session.ts';
import { sizeOf } from '../../times.ts';
import { Part, Reading } from '../parts.tsx';

type Model = KbModels['models'][number];

/** While a model is being downloaded or embeds. */
const watchMs = 1500;

const languageNames: Record<Model['languages'], string> = {
  multilingual: 'Many languages',
  english: 'English',
  unknown: 'In the models folder',
};

export function Models(): JSX.Element {
  const { value, failure, reload } = useResource<KbModels>((signal) => call('GET', '/kb/models', { signal }), []);
  const isChanging =
    value !== undefined &&
    (value.models.some(({ state }) => state === 'downloading') ||
      (value.documents > 0 && value.searched !== value.chosen));
  useEffect(() => {
    if (!isChanging) return undefined;
    const timer = setTimeout(reload, watchMs);
    return () => clearTimeout(timer);
  }, [value, isChanging, reload]);
  return (
    <Part
      id="model"
      title="Search model"
      intro="The built-in search matches words and common expressions. A model also finds other words for the same thing."
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} what="Knowledge bases" />
      ) : (
        <>
          {value.problem !== null && <p class="kb-job-error">{value.problem}</p>}
          {isChanging && value.searched !== value.chosen && value.documents > 0 && (
            <p role="status">
              {nameOf(value.chosen)} has read {value.embedded} of {value.documents} documents. Until it is done, the
              former model searches.
            </p>
          )}
          <ul class="kb-jobs">
            {value.models.map((model) => (
              <Row key={model.name} model={model} list={value} onChosen={reload} />
            ))}
          </ul>
        </>
      )}
    </Part>
  );
}

const nameOf = (name: string): string => (name === 'builtin' ? 'Built-in' : name);

function Row(props: { readonly model: Model; readonly list: KbModels; readonly onChosen: () => void }): JSX.Element {
  const { model, list, onChosen } = props;
  const { name, byteSize, languages, state, progress, error } = model;
  const choose = async (): Promise<void> => {
    try {
      await call('POST', '/kb/models/choose', { body: { name } });
      onChosen();
    } catch (failure) {
      notifyFailure(failure);
    }
  };
  return (
    <li class="kb-job">
      <div class="row">
        <strong>{nameOf(name)}</strong>
        {list.chosen === name && <Badge kind="good">{list.searched === name ? 'In use' : 'Chosen'}</Badge>}
        {list.chosen !== name && list.searched === name && <Badge>Still in use</Badge>}
      </div>
      {state === 'downloading' && <progress max={1} value={progress ?? 0} aria-label={`Downloading ${nameOf(name)}`} />}
      <div class="row">
        <p class="soft">
          {languageNames[languages]}
          {byteSize !== null && byteSize > 0 && `, ${sizeOf(byteSize)}`}
          {name === 'builtin' && ', no download'}
          {state === 'downloading' && `, downloading: ${Math.round((progress ?? 0) * 100)} %`}
        </p>
        {hasRole('admin') && list.chosen !== name && state !== 'downloading' && (
          <Button small aria-label={`Use ${nameOf(name)}`} onClick={() => void choose()}>
            {state === 'available' ? 'Use' : state === 'failed' ? 'Try again' : 'Download and use'}
          </Button>
        )}
      </div>
      {error !== null && <p class="kb-job-error">{error}</p>}
    </li>
  );
}
