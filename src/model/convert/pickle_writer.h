#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// Python's pickle, protocol 2, as far as OpenAI's file needs it: dicts, texts, numbers and torch tensors whose bytes
/// lie in the archive beside it. Written by hand, because what libtorch's own pickler adds (the types of containers) is
/// refused by torch.load's safe way of reading. Opcodes: Python's Lib/pickletools.py; tensors: torch/_utils.py.
class PickleWriter {
 public:
  PickleWriter();

  void begin_dict();
  void end_dict();
  void text(std::string_view text);
  void number(std::int64_t number);  ///< A whole number of 32 bits.
  /// A contiguous tensor whose bytes are the archive's record data/KEY. `storage`: torch's name, "HalfStorage".
  void tensor(std::string_view storage, std::string_view key, std::span<const std::int64_t> shape);
  /// All of it, ended.
  std::string finish() &&;

 private:
  void global(std::string_view module, std::string_view name);
  void tuple(std::span<const std::int64_t> numbers);

  std::string out_;
};

}  // namespace tutti
