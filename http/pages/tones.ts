// Short soft tones, if enabled. Generated here, so that nothing has to be loaded.

export interface Tone {
  readonly hertz: number;
  readonly atSeconds: number;
}

const toneSeconds = 0.16;
const loudness = 0.08;
let audio: AudioContext | undefined;

export function playTones(tones: readonly Tone[]): void {
  audio ??= new AudioContext();
  // A browser plays no sound before the first click or key.
  void audio.resume();
  for (const { hertz, atSeconds } of tones) {
    const at = audio.currentTime + atSeconds;
    const volume = audio.createGain();
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(loudness, at + 0.02);
    volume.gain.linearRampToValueAtTime(0, at + toneSeconds);
    volume.connect(audio.destination);
    const tone = audio.createOscillator();
    tone.frequency.value = hertz;
    tone.connect(volume);
    tone.start(at);
    tone.stop(at + toneSeconds);
  }
}
