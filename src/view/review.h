#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tutti {

// Which recordings to check by ear, and where: plain data and how it is written.

/// A stretch worth an ear.
struct ReviewFinding {
  std::string kind;  // "loop", "gap", ...
  Seconds start{};
  Seconds end{};
  double severity = 0;  // 0..1
  std::string reason;
  std::string excerpt{};
  std::vector<float> peaks{};  // 0..1, over [wave_start, wave_end); empty: no picture
  Seconds wave_start{};
  Seconds wave_end{};
};

struct ReviewRecording {
  std::string name;
  std::string transcript;                 // path
  std::string audio{};                    // URL for the page's player; empty: the recording was not found
  Seconds length{};                       // 0: not known
  double doubt = 0;                       // 0..1, orders the list
  std::vector<ReviewFinding> findings{};  // worst first
};

/// A turn: one speaker without a break.
struct ReviewTurn {
  Seconds start{};
  Seconds end{};
  std::size_t speaker = 0;  // index in ReviewConversation::speakers
  std::string excerpt{};
};

/// Who speaks in a recording.
struct ReviewConversation {
  std::string name;
  std::string transcript;               // path
  std::string audio{};                  // as in ReviewRecording
  std::vector<std::string> speakers{};  // in the order of their first turns
  std::vector<ReviewTurn> turns{};      // by time

  /// Of one speaker, in all turns.
  Seconds length_of(std::size_t speaker) const;
};

struct ReviewList {
  std::size_t looked_at = 0;                  // transcripts, doubtful or not
  std::vector<std::string> not_read{};        // transcripts that could not be, with the reason
  std::size_t without_audio = 0;              // looked at without their recording
  std::size_t without_speech = 0;             // transcripts of `looked_at` without any text
  std::vector<ReviewRecording> recordings{};  // doubtful ones, worst first
  /// Those whose transcripts name speakers, by name; the first kMostConversations.
  std::vector<ReviewConversation> conversations{};
  std::size_t with_speakers = 0;  // transcripts of `looked_at` that name speakers
};

/// So many conversations are shown: a page with the turns of thousands would be too large to open.
inline constexpr std::size_t kMostConversations = 50;

/// "20,000 done, listen to these 37": what the list is for, in one line.
std::string review_headline(const ReviewList& list);

/// RFC 4180 with a heading: recording,position,reason,severity,excerpt,transcript. One row a finding, the list's order.
/// A cell that a spreadsheet would take for a formula gets an apostrophe in front.
std::string review_csv(const ReviewList& list);

/// One page that needs nothing else but the recordings: players that start at the finding (media fragments), waveforms
/// as inline SVG, light and dark. Below the findings, conversations: their speakers in colours, their turns along the
/// recording, and a player for each. Everything from outside is escaped; there is no script.
std::string review_html(const ReviewList& list);

/// "0:12:34.5-0:12:41.0": where to listen, always with hours, so that a column of them sorts.
std::string position_text(Seconds start, Seconds end);

}  // namespace tutti
