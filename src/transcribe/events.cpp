#include "transcribe/events.h"

namespace tutti {

TimeSpent& TimeSpent::operator+=(const TimeSpent& other) {
  audio += other.audio;
  listening += other.listening;
  features += other.features;
  encoder += other.encoder;
  speakers += other.speakers;
  decoder += other.decoder;
  waiting += other.waiting;
  writing += other.writing;
  return *this;
}

WindowCounts& WindowCounts::operator+=(const WindowCounts& other) {
  windows += other.windows;
  decodings += other.decodings;
  decoder_steps += other.decoder_steps;
  narrow_margins += other.narrow_margins;
  sequence_steps += other.sequence_steps;
  batch_steps += other.batch_steps;
  return *this;
}

}  // namespace tutti
