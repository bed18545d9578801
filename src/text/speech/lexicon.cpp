#include "text/speech/lexicon.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/strings.h"

namespace tutti {
namespace {

// The bytes: how many words and blocks (int32 each), where each block begins (int32), the blocks. A word is how many
// characters it shares with the one before it, how many follow, these, how many phones, these.
constexpr std::size_t kBlock = 16;
constexpr std::size_t kLongestWord = 255;
constexpr std::int64_t kHead = 8;

/// A word and where its phones lie in an array of all.
struct Entry {
  std::uint64_t start = 0;  // the first eight characters as a number, which compares as they do
  std::string_view word{};
  std::size_t first = 0;
  std::size_t count = 0;

  /// Of the same words the one that came first.
  bool operator<(const Entry& other) const {
    if (start != other.start) return start < other.start;
    const int order = word.compare(other.word);
    return order != 0 ? order < 0 : first < other.first;
  }
};

std::uint64_t start_of(std::string_view word) {
  std::uint64_t start = 0;
  for (std::size_t i = 0; i < sizeof start; ++i)
    start = start << 8 | (i < word.size() ? static_cast<unsigned char>(word[i]) : 0U);
  return start;
}

/// The first entry of every word, in the words' order.
void sort_and_merge(std::vector<Entry>& entries) {
  std::ranges::sort(entries, std::less<>());
  const auto repeated = std::ranges::unique(entries, {}, &Entry::word);
  entries.erase(repeated.begin(), repeated.end());
}

std::string pack(const std::vector<Entry>& words, std::span<const Phone> all_phones) {
  ByteWriter starts;
  std::string blocks;
  const auto put_size = [&](std::ptrdiff_t size) { blocks += static_cast<char>(static_cast<std::uint8_t>(size)); };
  std::string_view last;
  std::size_t index = 0;
  std::int32_t at = 0;
  for (const auto& [start, word, first, count] : words) {
    const auto phones = all_phones.subspan(first, count);
    if (index++ % kBlock == 0) {
      starts.put(at);
      last = {};
    }
    const auto shared = std::ranges::mismatch(word, last).in1 - word.begin();
    put_size(shared);
    put_size(std::ssize(word) - shared);
    blocks += word.substr(static_cast<std::size_t>(shared));
    put_size(std::ssize(phones));
    blocks.append(phones.begin(), phones.end());
    at = static_cast<std::int32_t>(blocks.size());
    last = word;
  }
  ByteWriter head;
  head.put(static_cast<std::int32_t>(words.size()));
  head.put(static_cast<std::int32_t>((words.size() + kBlock - 1) / kBlock));
  return head.take() + starts.take() + blocks;
}

/// Goes through the words of a block.
class BlockReader {
 public:
  explicit BlockReader(std::string_view bytes) : bytes_(bytes) {}

  /// The next word; false behind the last.
  bool next() {
    const auto shared = bytes_.number<std::uint8_t>();
    const auto more = bytes_.bytes(bytes_.number<std::uint8_t>());
    phones_ = bytes_.bytes(bytes_.number<std::uint8_t>());
    if (bytes_.failed() || shared > word_.size()) return false;
    word_.resize(shared);
    word_ += more;
    return true;
  }
  const std::string& word() const { return word_; }
  std::vector<Phone> phones() const { return {phones_.begin(), phones_.end()}; }

 private:
  ByteReader bytes_;
  std::string word_{};
  std::string_view phones_{};
};

}  // namespace

Result<Lexicon> Lexicon::from_cmudict(std::string_view text) {
  constexpr std::size_t kLeastLine = 8, kLeastPhone = 3;  // characters, mostly
  const std::string lower = ascii_lower(text);
  const char* const begin = text.data();
  std::vector<Entry> words;
  std::vector<Phone> phones;
  words.reserve(text.size() / kLeastLine);
  phones.reserve(text.size() / kLeastPhone);
  std::int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    const std::string_view line = trimmed(whole.substr(0, whole.find('#')));
    if (line.empty() || line.starts_with(";;;")) continue;
    const std::string_view word = line.substr(0, line.find(' '));
    const std::size_t first = phones.size();
    bool is_valid = word.size() < line.size() && word.size() <= kLongestWord;
    for (std::string_view rest = line.substr(word.size()); is_valid && !rest.empty();) {
      rest.remove_prefix(1);
      const std::string_view name = rest.substr(0, rest.find(' '));
      const auto phone = phone_of(name);
      if (phone) phones.push_back(*phone);
      is_valid = phone.has_value() && phones.size() - first <= kLongestWord;
      rest.remove_prefix(name.size());
    }
    if (!is_valid)
      return fail(Fault::corrupt, "line " + std::to_string(number) + ": expected a word and its phones, found '" +
                                      std::string(line.substr(0, 80)) + "'");
    if (word.ends_with(')')) continue;  // another pronunciation
    const auto spelt = std::string_view(lower).substr(static_cast<std::size_t>(word.data() - begin), word.size());
    words.push_back({start_of(spelt), spelt, first, phones.size() - first});
  }
  sort_and_merge(words);
  return parse(pack(words, phones));
}

Result<Lexicon> Lexicon::parse(std::string bytes) {
  Lexicon lexicon;
  ByteReader reader(bytes);
  const auto words = reader.number<std::int32_t>(), blocks = reader.number<std::int32_t>();
  if (reader.failed() || words < 0 ||
      blocks != (words + static_cast<std::int32_t>(kBlock) - 1) / static_cast<std::int32_t>(kBlock) ||
      reader.left() / sizeof(std::int32_t) < static_cast<std::size_t>(blocks))
    return fail(Fault::corrupt, "expected a packed dictionary, found something else");
  lexicon.bytes_ = std::move(bytes);
  lexicon.blocks_ = blocks;
  return lexicon;
}

std::int64_t Lexicon::words() const {
  return bytes_.empty() ? 0 : ByteReader(std::string_view(bytes_)).number<std::int32_t>();
}

/// Where a block begins, in bytes_.
std::int64_t Lexicon::block_at(std::int64_t block) const {
  constexpr std::int64_t kNumber = sizeof(std::int32_t);
  const auto all = std::string_view(bytes_);
  ByteReader reader(all.substr(static_cast<std::size_t>(kHead + block * kNumber)));
  const auto at = kHead + blocks_ * kNumber + reader.number<std::int32_t>();
  return std::clamp<std::int64_t>(at, 0, std::ssize(all));
}

std::optional<std::vector<Phone>> Lexicon::find(std::string_view word) const {
  const auto reader_of = [&](std::int64_t block) {
    return BlockReader(std::string_view(bytes_).substr(static_cast<std::size_t>(block_at(block))));
  };
  std::int64_t first = 0, last = blocks_;  // the block that may hold it is one of [first, last)
  while (last - first > 1) {
    const std::int64_t middle = first + (last - first) / 2;
    auto reader = reader_of(middle);
    (reader.next() && reader.word() <= word ? first : last) = middle;
  }
  if (first == last) return std::nullopt;
  auto reader = reader_of(first);
  for (std::size_t i = 0; i < kBlock && reader.next(); ++i)
    if (reader.word() == word) return reader.phones();
  return std::nullopt;
}

}  // namespace tutti
