#include "worker/encoder_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "worker/formula_requests.h"
#include "worker/worker_harness.h"

namespace tutti {
namespace {

/// A queue before a network of a script.
class QueueHere {
 public:
  explicit QueueHere(NetworkScript script = {}, std::int32_t together = 2)
      : network_(std::move(script)), queue(network_, ring_, together, backoff_, Clock::real()) {}

  void open(WindowId id, std::int32_t positions = 0) {
    const auto shared = SharedWindow::create(mel_of(static_cast<int>(id))).value();
    const OpenWindow message{.window = id, .n_mels = 2, .frames = 10, .positions = positions};
    queue.open(id, ring_.receive(message, OwnedFd(::dup(shared.fd()))).value());
  }
  /// The windows of the next encoding, each checked to be its own; empty: it failed.
  std::vector<WindowId> encode() {
    const auto encoded = queue.encode(/*beside_steps=*/false);
    if (!encoded || !encoded->kvs) return {};
    for (std::size_t i = 0; i < encoded->ids.size(); ++i)
      EXPECT_EQ((*encoded->kvs)[i].layers.size(), encoded->ids[i]) << "another window's";
    return encoded->ids;
  }

 private:
  ScriptedNetwork network_;
  MelRing ring_{at::empty({4, 2, 10})};
  MemoryBackoff backoff_{{[this] { return queue.encode_singly(); }}, [] {}, [](const ToControl&) {}};

 public:
  EncoderQueue queue;
};

using Ids = std::vector<WindowId>;

TEST(EncoderQueue, EncodesAsManyTogetherAsItMayInTheirOrder) {
  QueueHere here;
  for (const WindowId id : {3, 1, 2}) here.open(id);
  EXPECT_EQ(here.encode(), (Ids{3, 1}));
  EXPECT_EQ(here.queue.waiting(), 1);
  EXPECT_EQ(here.encode(), (Ids{2}));
}

TEST(EncoderQueue, ClosedWindowsAreNotEncoded) {
  QueueHere here;
  for (const WindowId id : {1, 2, 3}) here.open(id);
  here.queue.close(2);
  EXPECT_EQ(here.encode(), (Ids{1, 3}));
  EXPECT_EQ(here.queue.waiting(), 0);
}

TEST(EncoderQueue, WindowRequestedTwiceIsEncodedOnceMore) {
  QueueHere here;
  here.open(1);
  EXPECT_EQ(here.encode(), (Ids{1}));
  here.queue.request(1);
  here.queue.request(1);
  EXPECT_EQ(here.encode(), (Ids{1}));
  EXPECT_EQ(here.queue.waiting(), 0);
}

TEST(EncoderQueue, WithoutMemoryForABatchWindowsAreEncodedOneAtATime) {
  QueueHere here({.encode_batch = [](std::int64_t windows) {
    if (windows > 1) throw std::bad_alloc();
  }});
  here.open(1);
  here.open(2);
  EXPECT_EQ(here.encode(), (Ids{1}));
  EXPECT_EQ(here.queue.together(), 1);
  EXPECT_EQ(here.encode(), (Ids{2}));
}

TEST(EncoderQueue, WindowsThatFailMayBePutBackInFront) {
  int tries = 0;
  QueueHere here({.encode_batch =
                      [&](std::int64_t) {
                        if (++tries == 1) throw std::bad_alloc();
                      }},
                 1);
  here.open(1);
  here.open(2);
  const auto failed = here.queue.encode(false);
  ASSERT_TRUE(failed && !failed->kvs);
  EXPECT_EQ(failed->ids, (Ids{1}));
  here.queue.put_back(failed->ids);
  EXPECT_EQ(here.encode(), (Ids{1}));
  EXPECT_EQ(here.encode(), (Ids{2}));
}

TEST(EncoderQueue, WindowClosedWhileItIsEncodedIsNamedReleased) {
  QueueHere here({.encoded_beside = [] { return true; }});
  here.open(1);
  here.open(2);
  EXPECT_FALSE(here.queue.encode(/*beside_steps=*/true)) << "only begun";
  here.queue.close(1);
  ASSERT_TRUE(here.queue.begun());
  EXPECT_TRUE(here.queue.begun()->is_done());
  const auto encoded = here.queue.finish();
  EXPECT_TRUE(encoded.kvs);
  EXPECT_EQ(encoded.ids, (Ids{EncoderQueue::kReleased, 2}));
  EXPECT_FALSE(here.queue.begun());
}

TEST(EncoderQueue, BegunWindowIsNotQueuedAgain) {
  QueueHere here({.encoded_beside = [] { return false; }});
  here.open(1);
  EXPECT_FALSE(here.queue.encode(/*beside_steps=*/true));
  here.queue.request(1);
  EXPECT_EQ(here.queue.waiting(), 0);
  EXPECT_FALSE(here.queue.begun()->is_done());
}

TEST(EncoderQueue, GivesUpWhatWasBegunButTheClosedWindows) {
  QueueHere here({.encoded_beside = [] { return false; }});
  here.open(1);
  here.open(2);
  EXPECT_TRUE(here.queue.give_up_begun().empty());
  EXPECT_FALSE(here.queue.encode(/*beside_steps=*/true));
  here.queue.close(2);
  EXPECT_EQ(here.queue.give_up_begun(), (Ids{1}));
  EXPECT_FALSE(here.queue.begun());
}

TEST(EncoderQueue, DeviceThatFailsToAnswerIsDoneAndFails) {
  QueueHere here({.encoded_beside = []() -> bool { throw std::runtime_error("lost"); },
                  .take_encoded = [] { throw std::runtime_error("lost"); }});
  here.open(1);
  EXPECT_FALSE(here.queue.encode(/*beside_steps=*/true));
  EXPECT_TRUE(here.queue.begun()->is_done());
  EXPECT_FALSE(here.queue.finish().kvs);
}

}  // namespace
}  // namespace tutti
