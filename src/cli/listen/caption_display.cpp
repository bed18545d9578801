#include "cli/listen/caption_display.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/json.h"
#include "base/strings.h"
#include "text/json_bytes.h"
#include "transcript/subtitles.h"
#include "view/terminal_text.h"
#include "view/text.h"

namespace tutti {
namespace {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// To the millisecond.
double rounded(double seconds) {
  return std::round(seconds * 1000) / 1000;
}

class Events final : public CaptionDisplay {
 public:
  void show_partial(const Caption& caption) override { show("partial", caption); }
  void show_final(const Caption& caption) override { show("final", caption); }

 private:
  static void show(const char* type, const Caption& caption) {
    const nlohmann::ordered_json event{{"type", type},
                                       {"id", caption.id},
                                       {"start", rounded(caption.start)},
                                       {"end", rounded(caption.end)},
                                       {"text", caption.text}};
    print(json_keeping_bytes(event) + "\n");
  }
};

class Lines final : public CaptionDisplay {
 public:
  void show_partial(const Caption&) override {}
  void show_final(const Caption&) override {}
  void show_segment(const Segment& segment) override {
    print("[" + clock_text(segment.start, kVttClock) + " --> " + clock_text(segment.end, kVttClock) + "] " +
          without_controls(segment.text) + "\n");
  }
};

class Running final : public CaptionDisplay {
 public:
  ~Running() override { end(); }

  void show_partial(const Caption& caption) override {
    const std::string text = without_controls(caption.text);
    const std::size_t space = width() - std::min(width(), columns_of(line_)) - 1;
    const std::string shown = columns_of(text) <= space ? text : fitted(text, space, /*keep_end=*/true);
    print("\r\x1b[K" + line_ + "\x1b[2m" + shown + "\x1b[0m");
  }
  void show_final(const Caption& caption) override {
    for (const Word& word : caption.words) {
      const std::string text = without_controls(word.word);
      const bool is_full = !line_.empty() && columns_of(line_) + columns_of(text) + 1 >= width();
      if (is_full && text.starts_with(' ')) end_line();
      line_ += line_.empty() && text.starts_with(' ') ? text.substr(1) : text;
    }
    print("\r\x1b[K" + line_);
  }
  void end() override {
    if (!line_.empty()) end_line();
  }

 private:
  void end_line() {
    print("\r\x1b[K" + line_ + "\n");
    line_.clear();
  }
  static std::size_t width() {
    constexpr std::size_t kLeast = 20;
    return std::max(kLeast, screen_of(STDOUT_FILENO).columns);
  }

  std::string line_{};  // final text of the line that the cursor is in
};

class None final : public CaptionDisplay {
 public:
  void show_partial(const Caption&) override {}
  void show_final(const Caption&) override {}
};

}  // namespace

std::unique_ptr<CaptionDisplay> make_caption_events() {
  return std::make_unique<Events>();
}

std::unique_ptr<CaptionDisplay> make_caption_lines() {
  return std::make_unique<Lines>();
}

std::unique_ptr<CaptionDisplay> make_running_captions() {
  return std::make_unique<Running>();
}

std::unique_ptr<CaptionDisplay> make_no_captions() {
  return std::make_unique<None>();
}

}  // namespace tutti
