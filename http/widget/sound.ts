// A short tone for an answer while the page is not visible, if the visitor has used the page and not turned it off. The
// choice is stored in the browser.

import type { BrowserStorage } from './storage.ts';

const toneHz = 660;
const toneSeconds = 0.18;
const loudness = 0.08;

export class Sound {
  readonly #storage: BrowserStorage;
  #context: AudioContext | undefined;

  constructor(storage: BrowserStorage) {
    this.#storage = storage;
  }

  get isOn(): boolean {
    return this.#storage.read<boolean>('sound') !== false;
  }

  /** It plays once when turned on, so that the visitor knows it. */
  toggle(): void {
    const isOn = !this.isOn;
    this.#storage.write('sound', isOn);
    if (isOn) this.play();
  }

  play(): void {
    // Browsers let no page sound before a user action.
    if (!this.isOn || typeof AudioContext === 'undefined' || navigator.userActivation?.hasBeenActive === false) return;
    this.#context ??= new AudioContext();
    const { currentTime, destination } = this.#context;
    const tone = this.#context.createOscillator();
    const volume = this.#context.createGain();
    tone.frequency.value = toneHz;
    volume.gain.setValueAtTime(loudness, currentTime);
    volume.gain.exponentialRampToValueAtTime(0.0001, currentTime + toneSeconds);
    tone.connect(volume).connect(destination);
    tone.start();
    tone.stop(currentTime + toneSeconds);
  }
}
