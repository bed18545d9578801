#include "prepare/synthetic/leak_folder.h"

#include <cstdio>

#include "base/clock.h"
#include "base/files.h"
#include "base/try.h"
#include "prepare/synthetic/corpus_folder.h"

namespace tutti {
namespace {

constexpr const char* kList = "metadata.csv";
constexpr const char* kHeader =
    "audio_file,label,sensor,recording,timestamp,gain_db,condition,snr_db,distance_m,source,disturbance,duration\n";

/// A clip that is on disk, and its line.
struct WrittenClip {
  std::string line{};
  bool is_out_of_water = false;
  Seconds length{};
};

Result<WrittenClip> write_clip(const LeakFolder& wanted, std::int64_t index) {
  const auto clip = leak_clip(wanted.corpus, index);
  const std::string label = kLeakLabels[static_cast<std::size_t>(clip.label)];
  const auto name = label + "/" + clip.name() + (wanted.format == AudioFormat::flac ? ".flac" : ".wav");
  TRY(write_audio(wanted.out / name, clip.pcm, wanted.format, kLeakRate));
  const auto length = length_of(std::ssize(clip.pcm), kLeakRate);
  char facts[128];
  std::snprintf(facts, sizeof facts, ",%d,%s,%.2f,%.1f,%s,%s,%.4f\n", clip.gain_db,
                std::string(name_of(clip.condition)).c_str(), clip.snr_db, clip.distance_m, clip.source.c_str(),
                clip.disturbance.c_str(), length.count());
  return WrittenClip{name + "," + label + "," + clip.sensor + "," + clip.recording + "," + clip.timestamp + facts,
                     clip.gain_db == 1, length};
}

/// The clips, then the list that makes them a corpus.
Result<LeakFolderReport> write_clips(const LeakFolder& wanted) {
  const auto since = Clock::real().now();
  std::string list = kHeader;
  LeakFolderReport report;
  TRY(make_in_order<WrittenClip>(
      wanted.count, wanted.threads, [&](std::int64_t index) { return write_clip(wanted, index); },
      [&](const WrittenClip& clip) {
        list += clip.line;
        ++report.clips;
        report.out_of_water += clip.is_out_of_water;
        report.audio += clip.length;
      }));
  TRY(write_file_atomically(wanted.out / kList, list));
  report.spent = Clock::real().now() - since;
  return report;
}

}  // namespace

Result<LeakFolderReport> write_leak_folder(const LeakFolder& wanted) {
  LeakFolderReport report;
  TRY(write_corpus({wanted.out, kLeakLabels, kList}, [&]() -> Result<void> {
    report = TRY(write_clips(wanted));
    return {};
  }));
  return report;
}

}  // namespace tutti
