#include "worker/next_action.h"

namespace tutti {

NextAction next_action(const WorkAtHand& work) {
  if (!work.to_encode) return work.to_step ? NextAction::step : NextAction::nothing;
  if (!work.to_step) return NextAction::encode;
  if (work.encoded_last) return NextAction::step;
  if (work.free_slots) return NextAction::encode;
  return work.stepping_since >= work.last_encoding ? NextAction::encode : NextAction::step;
}

}  // namespace tutti
