#include "feed/prepared_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

struct Head {
  std::uint64_t magic = 51;
  std::int64_t index_at = 0;
  std::uint64_t index_check = 0, head_check = 0;
};

SetFileOptions options_in(const TempFolder& folder, bool is_resumed = false) {
  return {.whole = folder / "a.set",
          .half = folder / "a.set.half",
          .head = sizeof(Head),
          .alignment = 8,
          .is_resumed = is_resumed,
          .taken = Error{Fault::refused, "another process writes it"}};
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(SetFileWriter, WholeFileAppearsWithHeadRecordsAndIndex) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "a.set", "old"));
  const auto writer = SetFileWriter::open(options_in(folder)).value();
  EXPECT_EQ(writer->append(bytes_of("first")), 32);
  EXPECT_EQ(writer->append(bytes_of("second")), 40);
  Head head;
  ASSERT_TRUE(writer->finish(head, bytes_of("index")));
  EXPECT_EQ(head.index_at, 48);
  EXPECT_EQ(head.index_check, checksum(bytes_of("index")));
  EXPECT_EQ(head.head_check, check_of_head(head));
  EXPECT_EQ(read_file(folder / "a.set"), "old");
  ASSERT_TRUE(writer->publish());
  const std::string written(reinterpret_cast<const char*>(&head), sizeof head);
  EXPECT_EQ(read_file(folder / "a.set"), written + std::string("first\0\0\0second\0\0index", 21));
  EXPECT_FALSE(is_there(folder / "a.set.half"));
}

TEST(SetFile, OpensAsItWasWrittenAndDamageIsNamed) {
  const TempFolder folder;
  const auto path = folder / "a.set";
  const auto error_of = [&] {
    const auto opened = open_set_file<Head>(path, "a set", "Make it");
    if (opened) return Error{Fault::internal, "could be opened"};
    EXPECT_EQ(opened.error().hint, "Make it");
    return opened.error();
  };
  EXPECT_EQ(error_of().fault, Fault::missing);
  EXPECT_EQ(error_of().what, path.string() + ": expected a set, found no file");
  const auto writer = SetFileWriter::open(options_in(folder)).value();
  ASSERT_TRUE(writer->append(bytes_of("first")));
  Head head;
  ASSERT_TRUE(writer->finish(head, bytes_of("index")));
  ASSERT_TRUE(writer->publish());
  const auto opened = open_set_file<Head>(path, "a set", "");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->head.index_at, head.index_at);
  EXPECT_TRUE(std::ranges::equal(opened->index, bytes_of("index")));
  const auto whole = read_file(path).value();
  const auto with_change = [&](std::size_t at) {
    auto bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    return bytes;
  };
  const std::pair<std::string, std::string> damaged[] = {
      {whole.substr(0, 9), "expected a set, found 9 bytes"},
      {with_change(0), "expected a set, found a file of another kind"},
      {with_change(9), "its head is damaged"},
      {with_change(whole.size() - 1), "its index is damaged"},
      {whole.substr(0, 40), "its index is damaged"}};
  for (const auto& [bytes, what] : damaged) {
    ASSERT_TRUE(write_file_atomically(path, bytes));
    EXPECT_EQ(error_of().fault, Fault::corrupt);
    EXPECT_EQ(error_of().what, path.string() + ": " + what);
  }
}

TEST(SetFileWriter, OnlyAResumedHalfFileOutlivesItsWriter) {
  for (const bool is_resumed : {false, true}) {
    const TempFolder folder;
    ASSERT_TRUE(SetFileWriter::open(options_in(folder, is_resumed)).value()->append(bytes_of("first")));
    EXPECT_EQ(is_there(folder / "a.set.half"), is_resumed);
  }
}

TEST(BadSampleList, ListIsRecognisedAndOtherFilesAreNot) {
  const TempFolder folder;
  BadSampleList bad;
  EXPECT_EQ(bad.first(), "");
  bad.add("a", "silent");
  bad.add("b", "damaged");
  EXPECT_EQ(bad.first(), "silent");
  ASSERT_TRUE(bad.write(folder.path()));
  EXPECT_EQ(read_file(folder / kBadSampleList),
            "{\"id\":\"a\",\"reason\":\"silent\"}\n{\"id\":\"b\",\"reason\":\"damaged\"}\n");
  EXPECT_TRUE(BadSampleList::is_one(folder / kBadSampleList));
  ASSERT_TRUE(write_file_atomically(folder / "notes", "{\"id\":\"a\"}\n"));
  EXPECT_FALSE(BadSampleList::is_one(folder / "notes"));
}

}  // namespace
}  // namespace tutti
