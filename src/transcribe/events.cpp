#include "transcribe/events.h"

namespace tutti {

TimeSpent& TimeSpent::operator+=(const TimeSpent& other) {
  audio += other.audio;
  listening += other.listening;
  features += other.features;
  encoder += other.encoder;
  decoder += other.decoder;
  waiting += other.waiting;
  writing += other.writing;
  return *this;
}

}  // namespace tutti
