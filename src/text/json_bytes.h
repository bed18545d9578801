#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace tutti {

// Names of files are bytes, JSON is Unicode. A byte that is no UTF-8, say 0xE9, is written as the escape \udce9: what
// Python writes (PEP 383, surrogateescape), and what no text means otherwise.

/// `json` as text that keeps every byte of its strings; `indent` as dump() has it, -1: one line.
template <class Json>
std::string json_keeping_bytes(const Json& json, int indent = -1);

/// Reads a document, with such escapes and with raw bytes that are no UTF-8; discarded where it is no JSON.
template <class Json>
Json parse_json_keeping_bytes(std::string_view text);

extern template std::string json_keeping_bytes(const nlohmann::json&, int);
extern template std::string json_keeping_bytes(const nlohmann::ordered_json&, int);
extern template nlohmann::json parse_json_keeping_bytes(std::string_view);
extern template nlohmann::ordered_json parse_json_keeping_bytes(std::string_view);

}  // namespace tutti
