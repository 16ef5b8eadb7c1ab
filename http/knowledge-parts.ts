// Makes and connects the parts of the knowledge base and uploads: crawling, reading and embedding pages, search,
// storage of files. Nothing runs, and no thread starts, before first use. Made by composition.ts and stopped by
// serve.ts.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RetrievalPorts } from '../engine/knowledge/retrieval.ts';
import { createImageSource, type ImageSource } from '../workers/files/image-source.ts';
import { createMailPictures, type MailPictures } from '../workers/files/mail-pictures.ts';
import { type Crawler, createCrawler, robotName } from '../workers/knowledge/crawler.ts';
import { createEmbedder, type Embedder } from '../workers/knowledge/embedder.ts';
import { createModelStore, type ModelStore } from '../workers/knowledge/model-store.ts';
import { findModel, modelsBelow } from '../workers/knowledge/models.ts';
import { createPageReader } from '../workers/knowledge/page-reader.ts';
import { createRetriever } from '../workers/knowledge/retriever.ts';
import { createUploadedFiles, type UploadedFiles } from '../workers/knowledge/uploaded-files.ts';
import { DiskTurns } from '../workers/providers/disk-turns.ts';
import { createFetcher, type Fetcher } from '../workers/providers/fetcher.ts';
import { dnsResolver, type isPublicAddress, systemResolver } from '../workers/providers/host-resolver.ts';
import type { ObjectStore } from '../workers/providers/objects.ts';
import { diskObjects } from '../workers/providers/objects-disk.ts';
import { movedObjects } from '../workers/providers/objects-moved.ts';
import { s3Objects } from '../workers/providers/objects-s3.ts';
import { type Config, ConfigError } from './process/config.ts';

export interface KnowledgeOptions {
  /** The minimum pause between two requests of a crawl. A test server needs none. */
  readonly crawlPauseMs?: number;
  /** The time limit for an answer of the bucket. */
  readonly storageSilenceMs?: number;
  /** Decides which addresses are public. Tests have only loopback addresses. */
  readonly isPublic?: typeof isPublicAddress;
}

export interface KnowledgeParts extends RetrievalPorts {
  readonly fetcher: Fetcher;
  readonly crawler: Crawler;
  readonly uploadedFiles: UploadedFiles;
  readonly models: ModelStore;
  readonly imageSource: ImageSource;
  readonly mailPictures: MailPictures;
  /** Undefined when there is no storage. */
  readonly objects: ObjectStore | undefined;
  /** Of all large files on the disk. */
  readonly diskTurns: DiskTurns;
  /** Work in progress fails with an error. */
  stop(): Promise<void>;
}

/** For a data folder that this process holds. Throws ConfigError when the model is missing. */
export function createKnowledgeParts(config: Config, options: KnowledgeOptions): KnowledgeParts {
  const { allowPrivateCrawl: allowPrivate } = config;
  const reach = { allowPrivate, ...(options.isPublic === undefined ? {} : { isPublic: options.isPublic }) };
  const resolveHost = config.dnsServers === undefined ? systemResolver : dnsResolver(config.dnsServers);
  const fetcher = createFetcher({ ...reach, resolveHost, userAgent: `${robotName} (+${config.baseUrl})` });
  // A sender must not learn from a picture who received the mail.
  const unnamedFetcher = createFetcher({ ...reach, resolveHost, userAgent: 'Mozilla/5.0' });
  const embedder = embedderFor(config);
  const pageReader = createPageReader();
  const retriever = createRetriever();
  const diskTurns = new DiskTurns();
  const objects = objectsFor(config, { silenceMs: options.storageSilenceMs, turns: diskTurns });
  return {
    fetcher,
    embedder,
    retriever,
    crawler: createCrawler({
      ...reach,
      fetcher,
      pageReader,
      ...(options.crawlPauseMs === undefined ? {} : { shortestPauseMs: options.crawlPauseMs }),
    }),
    imageSource: createImageSource({ ...reach, fetcher }),
    mailPictures: createMailPictures(createImageSource({ ...reach, fetcher: unnamedFetcher })),
    models: createModelStore({ hub: config.modelHub, models: join(config.dataDir, 'models'), embedder }),
    uploadedFiles: createUploadedFiles({ objects, pageReader }),
    objects,
    diskTurns,
    async stop() {
      await Promise.all([pageReader.stop(), embedder.stop(), fetcher.close(), unnamedFetcher.close()]);
    },
  };
}

function embedderFor({ embedding, dataDir }: Config): Embedder {
  const models = join(dataDir, 'models');
  if (embedding.provider === 'none') return createEmbedder({ use: 'off' });
  if (embedding.provider === 'builtin') return createEmbedder({ use: 'builtin', others: modelsBelow(models) });
  const { model, modelDir } = embedding;
  const found = findModel(model, [...(modelDir === undefined ? [] : [modelDir]), models]);
  if (found !== undefined) return createEmbedder({ use: found, others: modelsBelow(models) });
  if (model === undefined)
    throw new ConfigError(
      `MODEL_DIR must be a folder with config.json, tokenizer.json and onnx/model.onnx or onnx/model_quantized.onnx, not ${modelDir}`,
    );
  throw new ConfigError(
    `EMBEDDING_MODEL names ${model}, which is neither in ${modelDir ?? models} nor a folder: npm run model:pull -- ${model}`,
  );
}

/** Files from before a bucket was configured stay on disk. */
function withFormer(present: ObjectStore, folder: string, turns: DiskTurns): ObjectStore {
  return existsSync(folder) ? movedObjects({ present, former: diskObjects(folder, undefined, turns) }) : present;
}

function objectsFor(
  { storage, dataDir }: Config,
  { silenceMs, turns }: { silenceMs: number | undefined; turns: DiskTurns },
): ObjectStore | undefined {
  switch (storage.provider) {
    case 'disk':
      return diskObjects(join(dataDir, 'storage'), undefined, turns);
    case 's3':
      return withFormer(
        s3Objects({ ...storage, ...(silenceMs === undefined ? {} : { silenceMs }) }),
        join(dataDir, 'storage'),
        turns,
      );
    case 'none':
      return undefined;
  }
}
