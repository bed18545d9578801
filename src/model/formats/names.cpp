#include <array>

#include "model/formats/formats.h"

namespace tutti {
namespace {

struct Pair {
  std::string_view hugging_face;
  std::string_view openai;
};

// Each applies at most once to a name. No right side occurs in a Hugging Face name, and no left side in an OpenAI one.
constexpr std::array<Pair, 17> kPairs{{
    {"encoder.embed_positions.weight", "encoder.positional_embedding"},
    {"decoder.embed_positions.weight", "decoder.positional_embedding"},
    {"decoder.embed_tokens.weight", "decoder.token_embedding.weight"},
    {"encoder.layer_norm.", "encoder.ln_post."},
    {"decoder.layer_norm.", "decoder.ln."},
    {".layers.", ".blocks."},
    {".self_attn_layer_norm.", ".attn_ln."},
    {".encoder_attn_layer_norm.", ".cross_attn_ln."},
    {".final_layer_norm.", ".mlp_ln."},
    {".self_attn.", ".attn."},
    {".encoder_attn.", ".cross_attn."},
    {".q_proj.", ".query."},
    {".k_proj.", ".key."},
    {".v_proj.", ".value."},
    {".out_proj.", ".out."},
    {".fc1.", ".mlp.0."},
    {".fc2.", ".mlp.2."},
}};

void replace(std::string& name, std::string_view from, std::string_view to) {
  if (const auto at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
}

}  // namespace

std::string openai_name(std::string_view name) {
  constexpr std::string_view prefix = "model.";
  std::string out(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
  for (const auto& pair : kPairs) replace(out, pair.hugging_face, pair.openai);
  return out;
}

std::string hugging_face_name(std::string_view name) {
  std::string out(name);
  for (const auto& pair : kPairs) replace(out, pair.openai, pair.hugging_face);
  return "model." + out;
}

}  // namespace tutti
