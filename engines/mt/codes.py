"""The languages of the service by the names that families of translation models call them."""

# FLORES-200's codes, as NLLB uses them; Cantonese is of its own there.
NLLB: dict[str, str] = {
    "zh-Hans": "zho_Hans", "zh-Hant": "zho_Hant", "zh-Hant-HK": "zho_Hant", "yue": "yue_Hant", "en": "eng_Latn",
    "vi": "vie_Latn", "th": "tha_Thai", "id": "ind_Latn", "ms": "zsm_Latn", "fil": "tgl_Latn", "km": "khm_Khmr",
    "my": "mya_Mymr", "lo": "lao_Laoo", "ja": "jpn_Jpan", "ko": "kor_Hang",
}  # fmt: skip
# M2M100's: one Chinese, without Cantonese.
M2M100: dict[str, str] = {
    "zh-Hans": "zh", "en": "en", "vi": "vi", "th": "th", "id": "id", "ms": "ms", "fil": "tl", "km": "km", "my": "my",
    "lo": "lo", "ja": "ja", "ko": "ko",
}  # fmt: skip
# Targets of OPUS-MT models that have several, ISO 639-3 and script.
OPUS: dict[str, str] = {
    "zh-Hans": "cmn_Hans", "zh-Hant": "cmn_Hant", "zh-Hant-HK": "cmn_Hant", "yue": "yue_Hant", "en": "eng",
    "vi": "vie", "th": "tha", "id": "ind",
    "ms": "zsm_Latn", "fil": "tgl_Latn", "km": "khm_Khmr", "my": "mya", "lo": "lao", "ja": "jpn", "ko": "kor",
}  # fmt: skip
