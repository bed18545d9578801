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

/// A turn of a contact that is no contest, or a stretch of one: calls, answers, reports, names, towns, stations,
/// weather, good-byes. Much of it is sent twice, figures may be cut (599 as 5NN), and prosigns begin with '^', see
/// key_text. `contest` is "CONTACT"; `kind` is cq, answer, exchange, report, station, bye, beacon or request.
ContestText contact_text(CounterRandom& random);

}  // namespace tutti
