"""Words that tell languages in Latin letters apart where letters alone don't, and words that tell nothing.

Written by hand. Indonesian and Malay share most of their words, so each list has only what the other does not say,
or spells differently. Vietnamese is listed without its marks, the way it is often typed.
"""

import re

from engines.languages import LanguageTag

_INDONESIAN = """
aja anjay anjir apartemen apel bahwa bandara banget bangku bapak baper berbicara berencana besok bicara bicarakan
bikin bilang bioskop bisa bisakah bisanya bu bule buruan butuh cape capek cewek cicilan coba cocok cowok cuma cuman
deh delapan dengerin dibilang dibutuhkan dicoba dikasih diskon doang dokter dong dosen elo emang engga enggak ga gak
gan ganteng gatau gede gimana gini gitu gokil gratis gua gubernur gue halo handuk harus heboh hp ibukota inggris
istirahat istri italia jelek jepang jeruk jomblo jumat kacamata kalian kalo kamis kampus kangen kantor kapan karcis
karena karna karyawan kasir kayak kayaknya kecelakaan kemarin keren khusus klo kok kompor kosan krn kualitas kue
kuliah kuliner kulkas kursi langganan laper lelet libur liburan listrik lo loe lumayan makasih males mampir mantap
mantul mas mba mbak mbok medsos mencoba mending menelepon mengerti mengobrol menikah menjual mobil mobilnya musik
nabrak naro negara nelpon nemu ngajak ngantuk ngapain ngerjain ngerti ngga nggak ngobrol ngomong ngopi nih nomor
nongkrong nonton nyaman nyesel nyoba obat obrolan oke olahraga om omong ongkir pabrik pacar paham pak pake pameran
pasien pelan pelayanan pelayanannya pengen pengin permisi pertanyaan pertanyaanku pesanan pesawat piknik pingin pintar
polisi porsi prancis presiden pria profesi pusing rabu rapat ribet rusak saat sebentar sempat sempet senin sepatu
sepeda siang sih silahkan silakan sopir sore spanyol stasiun sulit tas telat telepon teleponnya televisi temen terjadi
tertawa tiket toko tolol trus tuh uang uangnya udah udh universitas utang warung wib wkwk wkwkwk wkwkwkwk wortel
yaudah yg yuk
"""
_MALAY = """
adakah ahad akhbar ambik amik apesal awak bagaimanakah bahagian bahawa bas basikal beg berbasikal berbual bercakap
berehat beritahu berjumpa berkahwin berlaku bilik boleh bolehkah budak cakap camne cikgu comel cuba cubalah dah dahlah
depa dijangka diorang ditemui doktor dorang emel encik epal esok faham fikir fikirkan filem geng giler hantar hendak
hensem hospital ialah inggeris isnin isteri isterinya jawapan je jepun jer jiran jom jumaat juruterbang kahwin
kanak-kanak kasut kat kawan kedai kek kelab kelmarin kenderaan kerana kereta keretanya kerusi ketawa khabar khamis
khinzir kitorang korang kot kualiti lapan lapangan lawak lelaki lembu lepak lif lori macamana mahu mahukan mak makcik
manakala mcm memandu mencuba menghantar mesyuarat motosikal muzik nak nampak nombor ofis oren pakcik pandu pasaraya
pejabat pemandu penat peperiksaan peratus percuma perlukan perniagaan persidangan polis puan ramai rehat rosak sahaja
saje selepas seluar senarai seronok sesiapa sikit soalan soalannya stesen sukan syarikat syok tahniah tak takda takde
takkan takpa takpe tandas tayar teksi telefon televisyen tembikai tengok tiada tingkap ubat universiti wang wangnya
weh wei xde xnak xtau
"""
_FILIPINO = """
ako akong ang ano anong araw at ate ay ayaw ba bahay bakit bukas dahil daw din dito doon eh galing ganda grabe gusto
hala hindi huwag ikaw ito iyan iyon ka kailan kailangan kami kamusta kasi kayo ko kumusta kung kuya lahat lang lodi
maganda magandang mahal mahirap mamaya mga mo muna na naman namin nasa natin ng ngayon nila nito niya nyo opo pa paano
pala para pero petmalu po pogi pwede rin saan sabi salamat sana sayo si sila sino siya sobra talaga tara tayo tulad
tuloy umaga wag wala walang yan yung
"""
_VIETNAMESE = """
anh ban bao biet bon chi cho chua chuc cua cung dang day dc dep duoc em giai gio khi khong la lam len luon minh moi
mua muon nao nay ngay ngon nguoi nha nhanh nhe nhi nhieu nhin nhu nhung nua oi phai qua roi sao tai thang thich thoi
thuong tien toi trong truoc tuoi vay vcl vkl voi vui xem xin yeu
"""
_ENGLISH = """
a about all am amazing and any anyone are awesome be beautiful but buy can cool did do does for from get good great
guys have he hello her here his how i i'm if im in is it it's its just know let like look love much my need new nice
no not now of on one our out play please pretty really see she so some stream thank thanks that that's the their there
they this to today u up very want was we what when where which who why will with would wow yes you you're your
"""

_LISTS = {
    "id": frozenset(_INDONESIAN.split()),
    "ms": frozenset(_MALAY.split()),
    "fil": frozenset(_FILIPINO.split()),
    "vi": frozenset(_VIETNAMESE.split()),
    "en": frozenset(_ENGLISH.split()),
}
_ENDINGS = {
    "id": re.compile(r".{4,}(?:ku|mu)"),  # my, your: Malay writes a word of its own
    "en": re.compile(r".+(?:n['’]t|['’](?:s|m|re|ll|ve|d))"),
}

# Said in every language's chat: laughter, cheers, game and stream words, lengthened sounds, single letters.
_ANY_LANGUAGE = re.compile(
    r"(?:[bw]*a*(?:ha)+h*|h*(?:he)+|h*(?:hi)+|h*(?:hu)+|(?:wk)+w?|(?:xi)+|k{2,}|(?:ja){2,}|a+w+|a+h+|o+h+|u+h+|h?m+"
    r"|e+h+|wo+w|w+|x+|z+|(.)\1{2,}|[b-hj-z])"
    r"|gg|ggwp|wp|gl|hf|ez|glhf|lol|lmao|lmfao|rofl|omg|wtf|pog|pogchamp|poggers|kappa|lul|kekw|xd|afk|brb|op|nt|ns"
    r"|ok|oke|okay|hi|bye|yo|bgm|mvp|vip|pk|live|link|hd|fps|lag|noob|bro|boss|bang|admin|mod|up|like|idol|fan|fans"
    r"|awsl|yyds|xswl|plmm|nb|tql|orz|qaq|tat"
)


def tells_nothing(word: str) -> bool:
    """Whether a lower-case word is said in chats of every language."""
    return _ANY_LANGUAGE.fullmatch(word) is not None


def is_own_word(language: LanguageTag, word: str) -> bool:
    """Whether a lower-case word is one that, of en, vi, id, ms and fil, only `language` has."""
    ending = _ENDINGS.get(language)
    return word in _LISTS[language] or (ending is not None and ending.fullmatch(word) is not None)
