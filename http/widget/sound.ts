// A short tone when somebody answers while nobody looks. Off until the visitor asks for it, and remembered in the
// browser.

import type { Shelf } from './shelf.ts';

const toneHz = 660;
const toneSeconds = 0.18;
const loudness = 0.08;

export class Sound {
  readonly #shelf: Shelf;
  #context: AudioContext | undefined;

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
  }

  get isOn(): boolean {
    return this.#shelf.read<boolean>('sound') === true;
  }

  /** Turned on by hand, which is when a browser lets a page make sounds; it is heard at once, so that one knows it. */
  toggle(): void {
    const isOn = !this.isOn;
    this.#shelf.write('sound', isOn);
    if (isOn) this.play();
  }

  play(): void {
    if (!this.isOn || typeof AudioContext === 'undefined') return;
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
