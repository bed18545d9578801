#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/try.h"
#include "model/formats/formats.h"
#include "model/formats/pickle.h"

namespace tutti {
namespace {

using Kind = PickleNode::Kind;

std::string readable(std::string_view global) {
  std::string text(global);
  for (auto& c : text) c = c == '\n' ? '.' : c;
  return text;
}

std::optional<ElementType> storage_type(std::string_view global) {
  constexpr std::array<std::pair<std::string_view, ElementType>, 10> types{{
      {"torch\nHalfStorage", ElementType::f16},
      {"torch\nBFloat16Storage", ElementType::bf16},
      {"torch\nFloatStorage", ElementType::f32},
      {"torch\nDoubleStorage", ElementType::f64},
      {"torch\nCharStorage", ElementType::i8},
      {"torch\nByteStorage", ElementType::u8},
      {"torch\nShortStorage", ElementType::i16},
      {"torch\nIntStorage", ElementType::i32},
      {"torch\nLongStorage", ElementType::i64},
      {"torch\nBoolStorage", ElementType::boolean},
  }};
  for (const auto& [name, type] : types) {
    if (name == global) return type;
  }
  return std::nullopt;
}

/// Walks the parsed pickle and ties its tensors to the archive's members.
class Reader {
 public:
  Reader(const Pickle& pickle, const std::vector<ZipMember>& members, std::string_view folder) : pickle_(pickle) {
    for (const auto& member : members) {
      if (member.name.starts_with(folder)) members_.emplace(member.name.substr(folder.size()), member.data);
    }
  }

  Result<OpenAiModel> read() const {
    const auto* dims = entry(node(pickle_.root), "dims");
    const auto* state = entry(node(pickle_.root), "model_state_dict");
    if (!dims || !state || dims->kind != Kind::dict || state->kind != Kind::dict) {
      return fail(Fault::unsupported, "expected a dict of 'dims' and 'model_state_dict', as OpenAI's models have");
    }
    OpenAiModel model;
    TRY(read_dims(*dims, model.dims));
    model.tensors = TRY(read_tensors(*state));
    return model;
  }

  /// The tensors of the dict under `key`; empty: of the whole file.
  Result<std::vector<StoredTensor>> read_state(std::string_view key) const {
    const auto* state = key.empty() ? &node(pickle_.root) : entry(node(pickle_.root), key);
    if (!state || state->kind != Kind::dict)
      return fail(Fault::unsupported,
                  "expected a dict of tensors" + (key.empty() ? "" : " as '" + std::string(key) + "'"));
    return read_tensors(*state);
  }

 private:
  Result<std::vector<StoredTensor>> read_tensors(const PickleNode& state) const {
    std::vector<StoredTensor> tensors;
    for (std::size_t i = 0; i + 1 < state.items.size(); i += 2) {
      const auto& key = node(state.items[i]);
      if (key.kind != Kind::text) return fail(Fault::corrupt, "a key of its dict of tensors is not a text");
      auto tensor = read_tensor(std::string(key.text), node(state.items[i + 1]));
      if (!tensor) return fail_in("tensor '" + std::string(key.text) + "'", tensor.error());
      tensors.push_back(std::move(*tensor));
    }
    return tensors;
  }

  const PickleNode& node(std::uint32_t index) const { return pickle_.nodes[index]; }

  const PickleNode* entry(const PickleNode& dict, std::string_view key) const {
    if (dict.kind != Kind::dict) return nullptr;
    for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const auto& candidate = node(dict.items[i]);
      if (candidate.kind == Kind::text && candidate.text == key) return &node(dict.items[i + 1]);
    }
    return nullptr;
  }

  Result<void> read_dims(const PickleNode& dict, WhisperDims& dims) const {
    const std::pair<const char*, std::int32_t*> fields[] = {
        {"n_mels", &dims.n_mels},
        {"n_audio_ctx", &dims.n_audio_ctx},
        {"n_audio_state", &dims.n_audio_state},
        {"n_audio_head", &dims.n_audio_head},
        {"n_audio_layer", &dims.n_audio_layer},
        {"n_vocab", &dims.n_vocab},
        {"n_text_ctx", &dims.n_text_ctx},
        {"n_text_state", &dims.n_text_state},
        {"n_text_head", &dims.n_text_head},
        {"n_text_layer", &dims.n_text_layer},
    };
    for (const auto& [name, field] : fields) {
      const auto* value = entry(dict, name);
      if (!value || value->kind != Kind::integer || !std::in_range<std::int32_t>(value->integer)) {
        return fail(Fault::corrupt, std::string("dims: '") + name + "' is missing or not a whole number");
      }
      *field = static_cast<std::int32_t>(value->integer);
    }
    return {};
  }

  /// A tuple of non-negative integers.
  std::optional<std::vector<std::int64_t>> integers(const PickleNode& tuple) const {
    if (tuple.kind != Kind::tuple) return std::nullopt;
    std::vector<std::int64_t> values;
    for (const auto index : tuple.items) {
      if (node(index).kind != Kind::integer || node(index).integer < 0) return std::nullopt;
      values.push_back(node(index).integer);
    }
    return values;
  }

  /// torch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks).
  Result<StoredTensor> read_tensor(const std::string& name, const PickleNode& call) const {
    if (call.kind != Kind::call) return fail(Fault::unsupported, "expected a tensor");
    const auto& callee = node(call.items[0]);
    const auto& arguments = node(call.items[1]);
    if (callee.text != "torch._utils\n_rebuild_tensor_v2") {
      return fail(Fault::unsupported, "it is made by '" + readable(callee.text) + "', which is not executed");
    }
    if (arguments.kind != Kind::tuple || arguments.items.size() < 4) {
      return fail(Fault::corrupt, "its description is incomplete");
    }
    const auto& offset = node(arguments.items[1]);
    const auto shape = integers(node(arguments.items[2]));
    const auto stride = integers(node(arguments.items[3]));
    if (offset.kind != Kind::integer || offset.integer < 0 || !shape || !stride) {
      return fail(Fault::corrupt, "its offset, size or stride is not made of whole numbers");
    }
    if (!is_row_major(*shape, *stride)) {
      return fail(Fault::unsupported,
                  "its size " + shape_text(*shape) + " and stride " + shape_text(*stride) + " are not row-major");
    }
    auto storage = TRY(read_storage(node(arguments.items[0])));
    return view(name, storage, static_cast<std::uint64_t>(offset.integer), *shape);
  }

  struct Storage {
    ElementType type = ElementType::f32;
    std::span<const std::byte> bytes{};
  };

  /// Persistent id: ("storage", torch.FloatStorage, key, location, number of elements).
  Result<Storage> read_storage(const PickleNode& persistent) const {
    const auto* id = persistent.kind == Kind::persistent ? &node(persistent.items[0]) : nullptr;
    if (!id || id->kind != Kind::tuple || id->items.size() < 3) return fail(Fault::corrupt, "it has no storage");
    const auto& type_name = node(id->items[1]);
    const auto& key = node(id->items[2]);
    const auto type = type_name.kind == Kind::global ? storage_type(type_name.text) : std::nullopt;
    if (!type) return fail(Fault::unsupported, "its storage is a '" + readable(type_name.text) + "'");
    const auto found = members_.find("data/" + std::string(key.kind == Kind::text ? key.text : ""));
    if (found == members_.end()) {
      return fail(Fault::corrupt, "its storage '" + std::string(key.text) + "' is missing from the archive");
    }
    return Storage{*type, found->second};
  }

  static bool is_row_major(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& stride) {
    if (shape.size() != stride.size()) return false;
    std::int64_t expected = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (shape[i] != 1 && stride[i] != expected) return false;
      if (__builtin_mul_overflow(expected, shape[i], &expected)) return false;
    }
    return true;
  }

  static Result<StoredTensor> view(const std::string& name, const Storage& storage, std::uint64_t offset,
                                   const std::vector<std::int64_t>& shape) {
    const auto needed = byte_count(shape, storage.type);
    const auto available = storage.bytes.size();
    std::uint64_t begin = 0;
    if (!needed || __builtin_mul_overflow(offset, size_of(storage.type), &begin) || begin > available ||
        available - begin < *needed) {
      return fail(Fault::corrupt, std::string(name_of(storage.type)) + " " + shape_text(shape) +
                                      " does not fit into its " + std::to_string(available) + " bytes of storage");
    }
    return StoredTensor{name, storage.type, shape, storage.bytes.subspan(static_cast<std::size_t>(begin), *needed)};
  }

  const Pickle& pickle_;
  std::unordered_map<std::string, std::span<const std::byte>> members_;
};

/// What `read` makes of the Reader of a file of torch.save.
template <class Read>
auto read_torch_file(std::span<const std::byte> file, Read read) -> decltype(read(std::declval<const Reader&>())) {
  const auto members = TRY(list_stored_zip(file));
  constexpr std::string_view pickle_name = "data.pkl";
  for (const auto& member : members) {
    if (!member.name.ends_with("/data.pkl")) continue;
    const auto pickle = parse_pickle(member.data);
    if (!pickle) return fail_in(member.name, pickle.error());
    return read(Reader(*pickle, members, member.name.substr(0, member.name.size() - pickle_name.size())));
  }
  return fail(Fault::unsupported, "the archive holds no data.pkl: not a file of torch.save");
}

}  // namespace

Result<OpenAiModel> parse_openai_pt(std::span<const std::byte> file) {
  return read_torch_file(file, [](const Reader& reader) { return reader.read(); });
}

Result<std::vector<StoredTensor>> parse_torch_state(std::span<const std::byte> file, std::string_view key) {
  return read_torch_file(file, [&](const Reader& reader) { return reader.read_state(key); });
}

}  // namespace tutti
