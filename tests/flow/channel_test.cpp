#include "flow/channel.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.h"

namespace tutti {
namespace {

TEST(Channel, ReadersDrainAfterTheLastWriterLeaves) {
  auto [in, out] = make_channel<int>({.items = 4});
  {
    auto writer = std::move(in);
    auto copy = writer;
    EXPECT_TRUE(writer.push(1));
    writer = {};
    EXPECT_TRUE(copy.push(2)) << "a copy keeps the end open";
  }
  EXPECT_EQ(out.pop(), 1);
  EXPECT_FALSE(out.is_exhausted());
  EXPECT_EQ(out.pop(), 2);
  EXPECT_EQ(out.pop(), std::nullopt);
  EXPECT_TRUE(out.is_exhausted());
}

TEST(Channel, BlockedWriterIsReleasedWhenTheReaderLeaves) {
  auto [in, out] = make_channel<std::unique_ptr<int>>({.items = 1});
  ASSERT_TRUE(in.push(std::make_unique<int>(1)));
  bool accepted = true;
  auto second = std::make_unique<int>(2);
  {
    std::jthread waiting([&accepted, &second, writer = in] { accepted = writer.push(std::move(second)); });
    auto reader = std::move(out);
  }
  EXPECT_FALSE(accepted);
  ASSERT_TRUE(second) << "a refused item stays with its writer";
  EXPECT_EQ(*second, 2);
}

TEST(Channel, AReaderWaitingForAnItemIsReleasedWhenTheWriterLeaves) {
  auto [in, out] = make_channel<int>({.items = 1});
  std::optional<int> got = 1;
  {
    std::jthread waiting([&got, reader = out] { got = reader.pop(); });
    auto writer = std::move(in);
  }
  EXPECT_EQ(got, std::nullopt);
}

TEST(Channel, QueuedItemsAreDestroyedWhenTheLastReaderLeaves) {
  auto [in, out] = make_channel<std::shared_ptr<int>>({.items = 4});
  auto item = std::make_shared<int>(1);
  ASSERT_TRUE(in.push(std::shared_ptr(item)));
  EXPECT_EQ(item.use_count(), 2);
  out = {};
  EXPECT_EQ(item.use_count(), 1) << "though a writer still holds the queue";
}

TEST(Channel, EmptyEndsAreClosed) {
  EXPECT_FALSE(Writer<int>().push(1));
  EXPECT_EQ(Reader<int>().pop(), std::nullopt);
  EXPECT_TRUE(Reader<int>().is_exhausted());
}

TEST(Channel, BytesBoundAsWellAsItems) {
  auto [in, out] = make_channel<std::string>({.items = 10, .bytes = 8}, [](const std::string& s) { return s.size(); });
  ASSERT_TRUE(in.push("12345"));
  ASSERT_TRUE(in.push("678"));
  EXPECT_EQ(in.watch().lock()->level().bytes, 8u);
  std::jthread waiting([writer = in] { EXPECT_TRUE(writer.push("9")); });
  EXPECT_EQ(out.pop(), "12345");
  EXPECT_EQ(out.pop(), "678");
  EXPECT_EQ(out.pop(), "9");
  EXPECT_EQ(in.watch().lock()->level().bytes, 0u);
}

TEST(Channel, AnItemLargerThanTheByteBoundPassesAlone) {
  auto [in, out] = make_channel<std::string>({.items = 10, .bytes = 4}, [](const std::string& s) { return s.size(); });
  ASSERT_TRUE(in.push("small"));
  std::jthread waiting([writer = in] { EXPECT_TRUE(writer.push("far too large")); });
  EXPECT_EQ(out.pop(), "small");
  EXPECT_EQ(out.pop(), "far too large");
}

TEST(Channel, ALargeItemIsNotOvertakenForEverBySmallOnes) {
  auto [in, out] = make_channel<std::string>({.items = 10, .bytes = 4}, [](const std::string& s) { return s.size(); });
  ASSERT_TRUE(in.push("ab"));
  std::vector<std::string> order;
  {
    std::jthread large([writer = in] { EXPECT_TRUE(writer.push("LARGE")); });
    eventually([&] { return in.watch().lock()->level().writers == 1; });
    std::jthread small([writer = in] { EXPECT_TRUE(writer.push("c")); });  // would fit beside "ab"
    eventually([&] { return in.watch().lock()->level().writers == 2; });
    for (int i = 0; i < 3; ++i) order.push_back(*out.pop());
  }
  EXPECT_EQ(order, (std::vector<std::string>{"ab", "LARGE", "c"}));
}

TEST(Channel, InvalidLimitsAreRefused) {
  EXPECT_THROW(make_channel<int>({.items = 0}), std::invalid_argument);
  EXPECT_THROW(make_channel<int>({.bytes = 10}), std::invalid_argument);
}

}  // namespace
}  // namespace tutti
