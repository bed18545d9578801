#include "worker/mel_ring.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "model/repeater.h"
#include "worker/formula_requests.h"
#include "worker/worker_harness.h"

namespace tutti {
namespace {

constexpr std::int32_t kMels = 3, kFrames = 10;

MelRing ring_of(std::int64_t buffers, at::ScalarType type) {
  return MelRing(at::full({buffers, kMels, kFrames}, 9.0, type));
}

/// Numbers that differ from window to window.
at::Tensor mel_of(std::int32_t window, std::int32_t frames) {
  return at::arange(kMels * frames, at::kFloat).view({kMels, frames}).add(100.25 * window);
}

Result<WindowMel> received(MelRing& ring, const at::Tensor& mel) {
  const auto shared = SharedWindow::create({mel.const_data_ptr<float>(), static_cast<std::size_t>(mel.numel())});
  return ring.receive({.window = 1, .n_mels = kMels, .frames = static_cast<std::int32_t>(mel.size(1))},
                      OwnedFd(::dup(shared.value().fd())));
}

at::Tensor padded(const at::Tensor& mel, at::ScalarType type) {
  return at::constant_pad_nd(mel, {0, kFrames - mel.size(1)}).to(type);
}

TEST(MelRing, WindowsReceivedInTurnAreSideBySideAsTheEncoderTakesThem) {
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    auto ring = ring_of(4, type);
    const auto one = received(ring, mel_of(1, 4)).value(), two = received(ring, mel_of(2, kFrames)).value(),
               three = received(ring, mel_of(3, 1)).value();
    const WindowMel* all[] = {&one, &two, &three};
    const auto found = ring.side_by_side(all);
    ASSERT_TRUE(found);
    EXPECT_TRUE(at::equal(
        *found, at::stack({padded(mel_of(1, 4), type), padded(mel_of(2, kFrames), type), padded(mel_of(3, 1), type)})));
    const WindowMel* crossed[] = {&two, &one};
    EXPECT_FALSE(ring.side_by_side(crossed));
  }
}

TEST(MelRing, BufferIsFilledAgainOnlyOnceItsWindowIsEncoded) {
  auto ring = ring_of(2, at::kHalf);
  auto first = received(ring, mel_of(1, 4)).value();
  const auto second = received(ring, mel_of(2, 4)).value(), third = received(ring, mel_of(3, 4)).value();
  EXPECT_FALSE(third.buffer) << "all are taken";
  first.buffer.reset();
  const auto fourth = received(ring, mel_of(4, 4)).value();
  ASSERT_TRUE(fourth.buffer);
  EXPECT_EQ(*fourth.buffer, 0);
  const WindowMel* around[] = {&second, &fourth};
  EXPECT_FALSE(ring.side_by_side(around)) << "behind the last buffer is the first";
  const WindowMel* with_none[] = {&fourth, &third};
  EXPECT_FALSE(ring.side_by_side(with_none));
  auto out = at::full({2, kMels, kFrames}, 7.0, at::kHalf);
  ring.write(fourth, out[0]);
  ring.write(third, out[1]);
  EXPECT_TRUE(at::equal(out, at::stack({padded(mel_of(4, 4), at::kHalf), padded(mel_of(3, 4), at::kHalf)})));
}

TEST(MelRing, WholeWindowForACpuIsReadyAsItCame) {
  auto ring = ring_of(1, at::kFloat);
  const auto whole = received(ring, mel_of(1, kFrames)).value();
  EXPECT_FALSE(whole.buffer);
  const WindowMel* const one[] = {&whole};
  const auto found = ring.side_by_side(one);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->const_data_ptr(), whole.values.values().data());
  EXPECT_TRUE(at::equal((*found)[0], mel_of(1, kFrames)));
  const auto shorter = received(ring, mel_of(2, kFrames - 1)).value();
  EXPECT_TRUE(shorter.buffer);
}

TEST(MelRing, ShortWindowsHaveTheWidthOfTheirPositions) {
  constexpr std::int32_t kPositions = 3;
  const auto mel = mel_of(1, 5);
  const auto shared = SharedWindow::create({mel.const_data_ptr<float>(), static_cast<std::size_t>(mel.numel())});
  const auto receive = [&](MelRing ring, std::int32_t positions) {
    return ring.receive({.window = 1, .n_mels = kMels, .frames = 5, .positions = positions},
                        OwnedFd(::dup(shared.value().fd())));
  };
  const MelRing ring(at::full({1, kMels, kFrames}, 9.0), /*takes_short=*/true);
  const auto window = receive(ring, kPositions).value();
  EXPECT_EQ(window.width, 2 * kPositions);
  const WindowMel* const one[] = {&window};
  EXPECT_FALSE(ring.side_by_side(one)) << "it is padded as it is encoded";
  const auto out = at::full({kMels, 2 * kPositions}, 7.0);
  ring.write(window, out);
  EXPECT_TRUE(at::equal(out, at::constant_pad_nd(mel, {0, 1})));
  EXPECT_EQ(receive(ring, 0)->width, kFrames);
  EXPECT_EQ(receive(ring_of(1, at::kFloat), kPositions)->width, kFrames) << "an encoder that takes whole windows alone";
  for (const std::int32_t wrong : {-1, 2, 6}) EXPECT_EQ(receive(ring, wrong).error().fault, Fault::usage) << wrong;
}

TEST(MelRing, LargeMelsAreConvertedAsTorchConvertsThem) {
  MelRing ring(at::empty({2, 128, 3000}, at::kHalf));
  for (const std::int32_t frames : {1, 1999, 3000}) {
    const auto mel = at::randn({128, frames});
    const auto shared = SharedWindow::create({mel.const_data_ptr<float>(), static_cast<std::size_t>(mel.numel())});
    const auto window =
        ring.receive({.window = 1, .n_mels = 128, .frames = frames}, OwnedFd(::dup(shared.value().fd()))).value();
    const WindowMel* const one[] = {&window};
    const auto wanted = at::constant_pad_nd(mel, {0, 3000 - frames}).to(at::kHalf);
    EXPECT_TRUE(at::equal(ring.side_by_side(one).value()[0], wanted)) << frames;
  }
}

/// Windows 1 to 20 of a worker that takes mels in sixteen bits and encodes four together.
void expect_all_answered(NetworkScript script) {
  script.mels = at::kHalf;
  script.encoded_together = 4;
  WorkerHere worker(std::move(script));
  constexpr int kWindows = 20;
  for (int name = 1; name <= kWindows; ++name) {
    worker.control->open(static_cast<WindowId>(name), 2, 10, tutti::mel_of(name));
    worker.control->send(request_of(static_cast<WindowId>(name), 1));
  }
  for (int answers = 0; answers < kWindows;) {
    const auto message = worker.control->next();
    ASSERT_TRUE(message.has_value());
    ASSERT_FALSE(std::holds_alternative<Failed>(*message));
    if (const auto* decoded = std::get_if<Decoded>(&*message)) {
      expect_answer(*decoded, static_cast<int>(decoded->window), request_of(decoded->window, 1));
      ++answers;
    }
  }
}

TEST(Worker, MoreWindowsThanBuffersForMelsAreAnsweredAlike) {
  expect_all_answered({});  // eight slots: ten buffers
}

TEST(Worker, WithoutMemoryForMelsWindowsAreAnsweredAlike) {
  const Lines lines;
  expect_all_answered({.make_mels = [](std::int64_t windows) {
    if (windows > 4) throw std::runtime_error("out of pinned memory\nbacktrace");
  }});
  EXPECT_EQ(lines.all, std::vector<std::string>{"log-mels are not made ready as they come: out of pinned memory"});
}

}  // namespace
}  // namespace tutti
