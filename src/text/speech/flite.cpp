#include "text/speech/flite.h"

#include <dlfcn.h>
#include <flite/flite.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/guarded.h"
#include "base/library_call.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::array<const char*, 4> kLibraries{"libflite.so.1", "libflite_usenglish.so.1", "libflite_cmulex.so.1",
                                                "libflite_cmu_us_slt.so.1"};

tl::unexpected<Error> not_there(const std::string& why) {
  return fail(Fault::missing, "flite, which English is pronounced by, cannot be loaded: " + why,
              "Install Debian's package libflite1; tools/setup.sh does");
}

/// flite's name of one or two sounds, "k-s" or "ax0", as phones; none for "epsilon".
std::vector<Phone> phones_of(std::string_view name) {
  std::vector<Phone> phones;
  for (const auto part : split(name, '-')) {
    std::string arpabet = ascii_upper(part);
    if (arpabet.starts_with("AX")) arpabet.replace(0, 2, "AH");
    if (const auto phone = phone_of(arpabet)) phones.push_back(*phone);
  }
  return phones;
}

}  // namespace

struct Flite::Library {
  using RegisterVoice = cst_voice*(const char*);
  using InitLexicon = cst_lexicon*();

  decltype(&::flite_init) flite_init = nullptr;
  decltype(&::flite_synth_text) flite_synth_text = nullptr;
  decltype(&::utt_wave) utt_wave = nullptr;
  decltype(&::utt_relation) utt_relation = nullptr;
  decltype(&::relation_head) relation_head = nullptr;
  decltype(&::item_next) item_next = nullptr;
  decltype(&::item_feat_string) item_feat_string = nullptr;
  decltype(&::item_feat_float) item_feat_float = nullptr;
  decltype(&::delete_utterance) delete_utterance = nullptr;
  RegisterVoice* register_voice = nullptr;
  InitLexicon* cmu_lex_init = nullptr;
  const cst_lts_rules* rules = nullptr;
  Guarded<cst_voice*> voice{nullptr};  // flite keeps what it is working on in the voice

  Result<void> open() {
    std::array<void*, kLibraries.size()> handles{};
    for (std::size_t i = 0; i < handles.size(); ++i) {
      handles[i] = ::dlopen(kLibraries[i], RTLD_NOW | RTLD_GLOBAL);
      if (!handles[i]) return not_there(::dlerror());
    }
    const auto [base, english, lexicon, slt] = handles;
    const bool found = look_up_all(base) && look_up(slt, "register_cmu_us_slt", register_voice) &&
                       look_up(lexicon, "cmu_lex_init", cmu_lex_init) &&
                       (rules = static_cast<const cst_lts_rules*>(::dlsym(lexicon, "cmu_lts_rules"))) != nullptr;
    if (!found || !english) return not_there("it is another version than 2.2");
    flite_init();
    cmu_lex_init();
    return {};
  }

 private:
  bool look_up_all(void* base) {
    return look_up(base, "flite_init", flite_init) && look_up(base, "flite_synth_text", flite_synth_text) &&
           look_up(base, "utt_wave", utt_wave) && look_up(base, "utt_relation", utt_relation) &&
           look_up(base, "relation_head", relation_head) && look_up(base, "item_next", item_next) &&
           look_up(base, "item_feat_string", item_feat_string) && look_up(base, "item_feat_float", item_feat_float) &&
           look_up(base, "delete_utterance", delete_utterance);
  }
};

Flite::Flite() : library_(std::make_unique<Library>()) {}
Flite::~Flite() = default;

Result<const Flite*> Flite::load() {
  static const Result<std::unique_ptr<const Flite>> loaded = []() -> Result<std::unique_ptr<const Flite>> {
    std::unique_ptr<Flite> flite(new Flite);
    TRY(flite->library_->open());
    return flite;
  }();
  if (!loaded) return tl::unexpected<Error>(loaded.error());
  return loaded->get();
}

Result<GraphemeRules> Flite::grapheme_rules() const {
  const auto& [name, roots, models, phone_table, context, extra, table] = *library_->rules;
  if (context != GraphemeRules::kContext || table) return not_there("its trees are of another kind than those of 2.2");
  GraphemeRules::Trees trees;
  for (std::size_t i = 0; phone_table[i]; ++i) trees.sounds.push_back(phones_of(phone_table[i]));
  // The table does not tell its length: the nodes are those that a character leads to.
  std::size_t count = 0;
  const auto node_at = [nodes = models](std::size_t index) {
    const auto* bytes = nodes + 6 * index;  // feature, value, yes, no
    return GraphemeRules::Node{bytes[0], bytes[1], static_cast<std::uint16_t>(bytes[2] | bytes[3] << 8),
                               static_cast<std::uint16_t>(bytes[4] | bytes[5] << 8)};
  };
  for (std::size_t i = 0; i < trees.roots.size(); ++i) {
    trees.roots[i] = roots[i];
    count = std::max(count, static_cast<std::size_t>(roots[i]) + 1);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto node = node_at(i);
    if (node.feature != GraphemeRules::kEnd)
      count = std::max(count, static_cast<std::size_t>(std::max(node.yes, node.no)) + 1);
    trees.nodes.push_back(node);
  }
  return GraphemeRules::make(std::move(trees));
}

Result<FliteSpeech> Flite::speak(const std::string& text) const {
  const auto& flite = *library_;
  return library_->voice.with([&](cst_voice*& voice) -> Result<FliteSpeech> {
    if (!voice) voice = flite.register_voice(nullptr);
    if (!voice) return not_there("its voice slt does not answer");
    const auto free_it = [&](cst_utterance* utterance) { flite.delete_utterance(utterance); };
    const std::unique_ptr<cst_utterance, decltype(free_it)> utterance(flite.flite_synth_text(text.c_str(), voice),
                                                                      free_it);
    const cst_wave* wave = utterance ? flite.utt_wave(utterance.get()) : nullptr;
    if (!wave || wave->num_samples <= 0) return fail(Fault::usage, "flite makes no sound of '" + text + "'");
    FliteSpeech speech{.rate = Hertz{wave->sample_rate}, .pcm{wave->samples, wave->samples + wave->num_samples}};
    auto* phones = flite.utt_relation(utterance.get(), "Segment");
    for (auto* item = flite.relation_head(phones); item; item = flite.item_next(item))
      speech.phones.push_back({flite.item_feat_string(item, "name"), Seconds(flite.item_feat_float(item, "end"))});
    return speech;
  });
}

}  // namespace tutti
