#include "transcribe/live/caption_files.h"

#include <memory>
#include <span>
#include <string>

#include "audio/pcm_stream.h"
#include "base/log.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr Seconds kStall{10};      // without a byte: the source is reported
constexpr Seconds kWriteEvery{1};  // outputs while text comes

}  // namespace

void CaptionFiles::on_final(const Caption& caption) {
  display_.show_final(caption);
  for (const Segment& segment : segments_.add(caption)) display_.show_segment(segment);
  if (Clock::real().now() - written_ >= kWriteEvery) write();
}

void CaptionFiles::on_end(const Result<void>& end) {
  for (const Segment& segment : segments_.pause()) display_.show_segment(segment);
  display_.end();
  end_ = end;
  write();
}

void CaptionFiles::write() {
  if (!planned_ || !write_error_) return;
  const Transcript transcript = segments_.transcript(language_);
  for (const auto& output : planned_->outputs) {
    const auto format = parse_formats(output.extension().string().substr(1)).value().front();
    const auto content = format_transcript(transcript, format, writer_);
    const auto written =
        content ? ownership_.write(output, *content).map([](bool) {}) : Result<void>(tl::unexpected(content.error()));
    if (!written) write_error_ = written;
  }
  written_ = Clock::real().now();
}

Result<bool> read_live_source(LiveSource& source, int stop, LiveStream& stream) {
  const auto take = [&stream](std::span<const std::int16_t> pcm) -> Result<void> {
    if (stream.feed(pcm)) return {};
    return fail(Fault::cancelled, "live audio has ended");
  };
  auto pcm = source.rate() ? std::make_unique<PcmStream>(source.name(), *source.rate(), take)
                           : std::make_unique<PcmStream>(source.name(), take);
  const auto read = source.read(
      stop, kStall,
      [&source] {
        log(Level::warning,
            source.name() + ": no audio for " + std::to_string(static_cast<int>(kStall.count())) + " s; still waiting");
      },
      [&pcm](std::span<const std::byte> bytes) { return pcm->feed(bytes); });
  if (!read) return read;
  if (!*read) return false;
  TRY(pcm->finish());
  if (pcm->missing() > Seconds(0.1))
    log(Level::warning, source.name() + ": it ended " + std::to_string(pcm->missing().count()) +
                            " s before the end that its header claims");
  TRY(source.close());
  return true;
}

}  // namespace tutti
