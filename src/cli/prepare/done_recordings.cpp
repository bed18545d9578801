#include "cli/prepare/done_recordings.h"

#include <sstream>

#include "base/numbers.h"

namespace tutti {

std::string show_done(const DoneRecording& done) {
  std::ostringstream head;
  head << done.totals.samples << ' ' << number_text(done.totals.audio.count()) << ' ' << done.totals.refused << ' '
       << done.path.size() << ' ' << done.metadata.size() << '\n';
  return head.str() + done.path + done.metadata + done.refused;
}

Result<DoneRecording> read_done(std::string_view text) {
  const auto end = text.find('\n');
  std::istringstream head{std::string(text.substr(0, end))};
  DoneRecording done;
  double seconds = 0;
  std::size_t path = 0, metadata = 0;
  head >> done.totals.samples >> seconds >> done.totals.refused >> path >> metadata;
  const auto rest = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  if (!head || path > rest.size() || metadata > rest.size() - path)
    return fail(Fault::corrupt, "expected what a recording added to a corpus, found something else",
                "Remove this file; its recording, and those behind it, are prepared again");
  done.totals.audio = Seconds(seconds);
  done.path = rest.substr(0, path);
  done.metadata = rest.substr(path, metadata);
  done.refused = rest.substr(path + metadata);
  return done;
}

}  // namespace tutti
