#pragma once

#include <string>

#include "base/random/counter_random.h"

namespace tutti {

/// The text sent in a clip, with its contest and kind.
struct ContestText {
  std::string contest;  ///< CQWW, CQWPX, ARRLDX, SWEEPSTAKES, FIELD_DAY, NAQP, SPRINT, IARU; PLAIN for other text
  std::string kind;     ///< cq, exchange, qso, partial_qso, partial, multi_tx, short; words
  std::string text;     ///< upper case, single spaces
};

/// A text as sent in one of eight amateur radio contests, from any of its stages.
ContestText contest_text(CounterRandom& random);

/// One to six common words, or groups of random letters and figures, for models that shall read more than contests.
ContestText plain_text(CounterRandom& random);

}  // namespace tutti
