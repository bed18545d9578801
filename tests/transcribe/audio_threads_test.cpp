#include <gtest/gtest.h>

#include <limits>

#include "support/never_stops.h"
#include "transcribe/prefetch.h"
#include "transcribe/run_stages.h"

using namespace tutti;

TEST(AudioThreads, AreFourForSlowDevicesAndNeverMoreThanThereAreCores) {
  EXPECT_EQ(audio_threads(64, 0), (AudioThreads{4, 4, 1}));
  EXPECT_EQ(audio_threads(64, 1500), (AudioThreads{4, 4, 1}));
  EXPECT_EQ(audio_threads(2, 0), (AudioThreads{2, 2, 1}));
  EXPECT_EQ(audio_threads(2, 1e6), (AudioThreads{2, 2, 2}));
  EXPECT_EQ(audio_threads(0, 100), (AudioThreads{1, 1, 1})) << "the number of files is unknown";
}

TEST(AudioThreads, FollowTheSpeedOfFastDevices) {
  EXPECT_EQ(audio_threads(64, 8 * 1000), (AudioThreads{20, 10, 2})) << "eight cards of a thousand times real time";
  EXPECT_EQ(audio_threads(64, 1e6), (AudioThreads{64, 64, 64}));
  EXPECT_EQ(audio_threads(64, std::numeric_limits<double>::infinity()), (AudioThreads{64, 64, 64}));
}

TEST(AudioThreads, NeverDecrease) {
  EXPECT_EQ((AudioThreads{4, 9, 1}.at_least({6, 4, 1})), (AudioThreads{6, 9, 1}));
}

namespace {

class NoFiles final : public JobSource, public ResultSink {
 public:
  std::optional<ClaimedFile> next() override { return {}; }
  Result<void> begin(std::size_t) override { return {}; }
  Result<void> on_audio_decoded(std::size_t, Seconds) override { return {}; }
  const TranscriptionContext* context(std::size_t) override { return nullptr; }
  Result<void> publish(TranscribedFile&) override { return {}; }
  void failed(std::size_t, const Error&) override {}
};

}  // namespace

TEST(AudioThreads, AreThoseOfARunsStagesWhetherItListensOrNot) {
  for (const bool listens : {false, true}) {
    NoFiles files;
    RunOptions options;
    if (listens) options.vad.emplace();
    RunObserver observer;
    Tally tally(observer, 0, 0);
    NeverStops stop;
    tutti::Run shared{.files = files, .sink = files, .options = options, .tally = tally, .stop = stop};
    Pipeline pipeline;
    build_stages(pipeline, shared);
    const auto set = set_audio_threads(pipeline, {7, 6, 5}, listens);
    EXPECT_TRUE(set) << set.error().text();
    EXPECT_TRUE(pipeline.run());
  }
}
