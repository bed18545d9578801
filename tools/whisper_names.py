"""What a Whisper model's parts are called by Hugging Face and by OpenAI. One table for every script of this tree."""

PAIRS = [  # Hugging Face's names, OpenAI's names; each applies at most once to a name, in this order
    ("encoder.embed_positions.weight", "encoder.positional_embedding"),
    ("decoder.embed_positions.weight", "decoder.positional_embedding"),
    ("decoder.embed_tokens.weight", "decoder.token_embedding.weight"),
    ("encoder.layer_norm.", "encoder.ln_post."), ("decoder.layer_norm.", "decoder.ln."), (".layers.", ".blocks."),
    (".self_attn_layer_norm.", ".attn_ln."), (".encoder_attn_layer_norm.", ".cross_attn_ln."),
    (".final_layer_norm.", ".mlp_ln."), (".self_attn.", ".attn."), (".encoder_attn.", ".cross_attn."),
    (".q_proj.", ".query."), (".k_proj.", ".key."), (".v_proj.", ".value."), (".out_proj.", ".out."),
    (".fc1.", ".mlp.0."), (".fc2.", ".mlp.2."),
]
DIMS = [  # OpenAI's names, config.json's names
    ("n_mels", "num_mel_bins"), ("n_vocab", "vocab_size"), ("n_audio_ctx", "max_source_positions"),
    ("n_audio_state", "d_model"), ("n_audio_head", "encoder_attention_heads"), ("n_audio_layer", "encoder_layers"),
    ("n_text_ctx", "max_target_positions"), ("n_text_state", "d_model"), ("n_text_head", "decoder_attention_heads"),
    ("n_text_layer", "decoder_layers"),
]
TIED = "proj_out.weight"  # the token embedding once more; no part of OpenAI's models


def openai_name(name):
    name = name.removeprefix("model.")
    for theirs, ours in PAIRS:
        name = name.replace(theirs, ours)
    return name


def hugging_face_name(name):
    for theirs, ours in PAIRS:
        name = name.replace(ours, theirs)
    return "model." + name


def openai_dims(config):
    """OpenAI's ten numbers from a Hugging Face config.json."""
    return {ours: config[theirs] for ours, theirs in DIMS}


def openai_weights(weights):
    """A Hugging Face model's tensors under OpenAI's names."""
    return {openai_name(name): value for name, value in weights.items() if name != TIED}
