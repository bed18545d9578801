// In the thread of the audio: the microphone's samples as 16 bits at 24 kHz, a tenth of a second at a time.
"use strict";

const RATE = 24000;
const PIECE = RATE / 10;

class Microphone extends AudioWorkletProcessor {
  piece = new Int16Array(PIECE);
  filled = 0;
  sum = 0;  // of the samples that the next one is the mean of, by how much of each belongs to it
  share = 0;

  process(inputs) {
    const step = RATE / sampleRate;
    for (const sample of inputs[0][0] ?? []) {
      let left = step;
      while (this.share + left >= 1 - 1e-9) {
        const part = 1 - this.share;
        this.add(this.sum + part * sample);
        left = Math.max(0, left - part);
        this.sum = this.share = 0;
      }
      this.sum += left * sample;
      this.share += left;
    }
    return true;
  }

  add(sample) {
    this.piece[this.filled] = Math.round(32767 * Math.max(-1, Math.min(1, sample)));
    this.filled += 1;
    if (this.filled < PIECE) return;
    this.port.postMessage(this.piece.buffer, [this.piece.buffer]);
    this.piece = new Int16Array(PIECE);
    this.filled = 0;
  }
}

registerProcessor("microphone", Microphone);
