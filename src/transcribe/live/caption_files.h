#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/output_ownership.h"
#include "transcribe/live/captions.h"
#include "transcribe/live/live_source.h"
#include "transcribe/live/live_stream.h"
#include "transcribe/output_plan.h"
#include "transcript/transcript.h"
#include "transcript/writers.h"

namespace tutti {

/// How live text is shown. One thread at a time.
class CaptionDisplay {
 public:
  virtual ~CaptionDisplay() = default;
  virtual void show_partial(const Caption& caption) = 0;
  virtual void show_final(const Caption& caption) = 0;
  /// A segment of the final text is complete.
  virtual void show_segment(const Segment& /*segment*/) {}
  /// Nothing follows.
  virtual void end() {}
};

/// Shows captions and writes the outputs, once a second while text comes. Called by the stream's thread.
class CaptionFiles final : public CaptionListener {
 public:
  CaptionFiles(CaptionDisplay& display, const std::optional<PlannedFile>& planned, WriterOptions writer,
               std::string language)
      : display_(display),
        planned_(planned),
        ownership_(planned ? ownership_of({*planned}) : OutputOwnership()),
        writer_(std::move(writer)),
        language_(std::move(language)) {}

  void on_partial(const Caption& caption) override { display_.show_partial(caption); }
  void on_final(const Caption& caption) override;
  void on_settled(double, bool) override {
    for (const Segment& segment : segments_.pause()) display_.show_segment(segment);
  }
  void on_end(const Result<void>& end) override;

  /// Why it ended, or why the outputs could not be written.
  Result<void> end() const { return end_ ? write_error_ : end_; }

 private:
  void write();

  CaptionDisplay& display_;
  const std::optional<PlannedFile>& planned_;
  const OutputOwnership ownership_;
  const WriterOptions writer_;
  const std::string language_;
  CaptionSegments segments_{};
  Clock::Instant written_{};
  Result<void> write_error_{};
  Result<void> end_{};
};

/// Reads the source to its end, or until `stop`, a descriptor, is readable: false then. A source that gives nothing is
/// waited for, with a warning.
Result<bool> read_live_source(LiveSource& source, int stop, LiveStream& stream);

}  // namespace tutti
