#include "model/formats/pickle.h"

#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

namespace tutti {
namespace {

using Kind = PickleNode::Kind;
using Index = std::uint32_t;

// A Whisper checkpoint's pickle has at most a few hundred kilobytes; what is larger is something else.
constexpr std::size_t kLargestPickle = 4u << 20;

/// The stack machine of pickle, over nodes. A read past the end or an empty stack sets `broken_`, which sticks.
class Machine {
 public:
  explicit Machine(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<Pickle> run() {
    while (!broken_ && !stopped_) {
      const auto at = at_;
      const auto opcode = number<std::uint8_t>();
      if (broken_) break;
      if (!step(opcode)) {
        return fail(Fault::unsupported, "pickle opcode " + std::to_string(opcode) + " at byte " + std::to_string(at) +
                                            " is none that torch.save writes");
      }
    }
    if (broken_) return fail(Fault::corrupt, "the pickle breaks off or is damaged at byte " + std::to_string(at_));
    return std::move(pickle_);
  }

 private:
  bool step(std::uint8_t opcode) { return push_number(opcode) || push_object(opcode) || move(opcode) || fill(opcode); }

  bool push_number(std::uint8_t opcode) {
    switch (opcode) {
      case 'N': push({}); return true;
      case 0x88: push({.kind = Kind::boolean, .integer = 1}); return true;
      case 0x89: push({.kind = Kind::boolean, .integer = 0}); return true;
      case 'J': push_integer(number<std::int32_t>()); return true;
      case 'K': push_integer(number<std::uint8_t>()); return true;
      case 'M': push_integer(number<std::uint16_t>()); return true;
      case 0x8a: push_long(); return true;
      case 'G': push({.kind = Kind::real, .real = big_endian_double()}); return true;
      default: return false;
    }
  }

  bool push_object(std::uint8_t opcode) {
    switch (opcode) {
      case 'X': push({.kind = Kind::text, .text = text(number<std::uint32_t>())}); return true;
      case 'c': push_global(); return true;
      case '}': push({.kind = Kind::dict}); return true;
      case ']': push({.kind = Kind::list}); return true;
      case ')': push({.kind = Kind::tuple}); return true;
      case '(': push({.kind = Kind::mark}); return true;
      case 't': push({.kind = Kind::tuple, .items = pop_to_mark()}); return true;
      case 0x85: push({.kind = Kind::tuple, .items = pop(1)}); return true;
      case 0x86: push({.kind = Kind::tuple, .items = pop(2)}); return true;
      case 0x87: push({.kind = Kind::tuple, .items = pop(3)}); return true;
      case 'Q': push({.kind = Kind::persistent, .items = pop(1)}); return true;
      case 'R': reduce(); return true;
      default: return false;
    }
  }

  bool move(std::uint8_t opcode) {
    switch (opcode) {
      case 0x80: number<std::uint8_t>(); return true;  // protocol number
      case 'q': memo_[number<std::uint8_t>()] = top(); return true;
      case 'r': memo_[number<std::uint32_t>()] = top(); return true;
      case 'h': recall(number<std::uint8_t>()); return true;
      case 'j': recall(number<std::uint32_t>()); return true;
      case 'b': pop(1); return true;  // attributes set on an object: none that we read has any that matter
      case '.':
        pickle_.root = top();
        stopped_ = true;
        return true;
      default: return false;
    }
  }

  bool fill(std::uint8_t opcode) {
    switch (opcode) {
      case 'a': extend(Kind::list, pop(1)); return true;
      case 'e': extend(Kind::list, pop_to_mark()); return true;
      case 's': extend(Kind::dict, pop(2)); return true;
      case 'u': extend(Kind::dict, pop_to_mark()); return true;
      default: return false;
    }
  }

  template <class T>
  T number() {
    T value{};
    const auto from = text(sizeof value);
    if (!broken_) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }

  double big_endian_double() { return std::bit_cast<double>(__builtin_bswap64(number<std::uint64_t>())); }

  std::string_view text(std::size_t size) {
    if (broken_ || bytes_.size() - at_ < size) {
      broken_ = true;
      return {};
    }
    const auto* from = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += size;
    return {from, size};
  }

  /// "module\nname\n", kept as one text: the newline between them reads as a space in messages.
  void push_global() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_, bytes_.size() - at_);
    const auto first = rest.find('\n');
    const auto second = first == rest.npos ? first : rest.find('\n', first + 1);
    broken_ |= second == rest.npos;
    const auto name = text(broken_ ? 0 : second + 1);
    if (!broken_) push({.kind = Kind::global, .text = name.substr(0, second)});
  }

  /// A little-endian two's complement number of at most 8 bytes.
  void push_long() {
    const auto size = number<std::uint8_t>();
    const auto digits = text(size);
    broken_ |= size > sizeof(std::int64_t);
    if (broken_) return;
    const bool negative = !digits.empty() && (static_cast<unsigned char>(digits.back()) & 0x80) != 0;
    std::int64_t value = negative ? -1 : 0;
    std::memcpy(&value, digits.data(), digits.size());
    push_integer(value);
  }

  void push_integer(std::int64_t value) { push({.kind = Kind::integer, .integer = value}); }

  void push(PickleNode node) {
    if (broken_) return;
    stack_.push_back(static_cast<Index>(pickle_.nodes.size()));
    pickle_.nodes.push_back(std::move(node));
  }

  void recall(std::uint32_t key) {
    const auto found = memo_.find(key);
    broken_ |= found == memo_.end();
    if (!broken_) stack_.push_back(found->second);
  }

  Index top() {
    broken_ |= stack_.empty();
    return broken_ ? 0 : stack_.back();
  }

  std::vector<Index> pop(std::size_t count) {
    broken_ |= stack_.size() < count;
    if (broken_) return {};
    std::vector<Index> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }

  std::vector<Index> pop_to_mark() {
    std::size_t count = 0;
    while (count < stack_.size() && pickle_.nodes[stack_[stack_.size() - 1 - count]].kind != Kind::mark) ++count;
    auto items = pop(count);
    pop(1);
    return items;
  }

  /// Adds items to the container on top of the stack.
  void extend(Kind kind, const std::vector<Index>& items) {
    const auto target = top();
    broken_ |= !broken_ && pickle_.nodes[target].kind != kind;
    broken_ |= kind == Kind::dict && items.size() % 2 != 0;
    if (broken_) return;
    auto& into = pickle_.nodes[target].items;
    into.insert(into.end(), items.begin(), items.end());
  }

  /// A call. An OrderedDict is a dict; all other calls are recorded.
  void reduce() {
    auto items = pop(2);
    broken_ |= !broken_ && pickle_.nodes[items[0]].kind != Kind::global;
    if (broken_) return;
    if (pickle_.nodes[items[0]].text == "collections\nOrderedDict" && pickle_.nodes[items[1]].items.empty()) {
      push({.kind = Kind::dict});
    } else {
      push({.kind = Kind::call, .items = std::move(items)});
    }
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool broken_ = false;
  bool stopped_ = false;
  std::vector<Index> stack_;
  std::unordered_map<std::uint32_t, Index> memo_;
  Pickle pickle_;
};

}  // namespace

Result<Pickle> parse_pickle(std::span<const std::byte> bytes) {
  if (bytes.size() > kLargestPickle) {
    return fail(Fault::unsupported,
                "a pickle of " + std::to_string(bytes.size()) + " bytes is no Whisper checkpoint's");
  }
  return Machine(bytes).run();
}

}  // namespace tutti
