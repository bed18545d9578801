#include "prepare/done_recordings.h"

#include <sstream>

#include "base/numbers.h"

namespace tutti {

std::string show_done(const DoneRecording& done) {
  std::ostringstream head;
  head << done.totals.samples << ' ' << number_text(done.totals.audio.count()) << ' ' << done.totals.refused << ' '
       << done.path.size() << ' ' << done.name.size() << ' ' << done.made_of.size() << ' ' << done.metadata.size()
       << ' ' << done.refused.size() << '\n';
  return head.str() + done.path + done.name + done.made_of + done.metadata + done.refused;
}

Result<DoneRecording> read_done(std::string_view text) {
  const auto end = text.find('\n');
  std::istringstream head{std::string(text.substr(0, end))};
  DoneRecording done;
  double seconds = 0;
  head >> done.totals.samples >> seconds >> done.totals.refused;
  auto rest = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  for (auto* field : {&done.path, &done.name, &done.made_of, &done.metadata, &done.refused}) {
    std::size_t size = 0;
    if (!(head >> size) || size > rest.size())
      return fail(Fault::corrupt, "expected what a recording added to a corpus, found something else",
                  "Remove this file; its recording is prepared again");
    *field = rest.substr(0, size);
    rest.remove_prefix(size);
  }
  done.totals.audio = Seconds(seconds);
  return done;
}

}  // namespace tutti
