#pragma once

#include <cstdint>

#include "base/units.h"

namespace tutti {

/// What a worker could do next, and what it did last.
struct WorkAtHand {
  bool to_encode = false;     // a window waits for the encoder
  bool to_step = false;       // a sequence waits for its next token
  bool free_slots = false;    // a window more would be stepped at once
  bool encoded_last = false;  // the last turn was the encoder's
  Seconds last_encoding{};    // how long it took
  Seconds stepping_since{};   // decoder steps since then, together
};

enum class NextAction { encode, step, nothing };

/// Encoder or decoder? While slots are free the encoder goes first, since an empty slot is lost at every step; once all
/// are taken both get the same time. Never two encodings between two steps of a live sequence, so nothing starves.
NextAction next_action(const WorkAtHand& work);

}  // namespace tutti
