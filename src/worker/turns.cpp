#include "worker/turns.h"

namespace tutti {

Turn next_turn(const WorkAtHand& work) {
  if (!work.to_encode) return work.to_step ? Turn::step : Turn::nothing;
  if (!work.to_step) return Turn::encode;
  if (work.encoded_last) return Turn::step;
  if (work.free_slots) return Turn::encode;
  return work.stepping_since >= work.last_encoding ? Turn::encode : Turn::step;
}

}  // namespace tutti
