"""Words for drawn pages: sentences, names, amounts and dates made up from our own phrase lists.

A sentence is a subject, what it did, and when or why; every combination is grammatical, so a few
dozen phrases a language give thousands of sentences. Nothing here quotes anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Language:
    """The phrases of one language and the script it is written in."""

    name: str
    script: str  # latin, cyrillic or greek: what a font must cover
    subjects: tuple[str, ...]
    predicates: tuple[str, ...]
    endings: tuple[str, ...]
    titles: tuple[str, ...]


def _split(text: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.split("|"))


ENGLISH = Language(
    "english",
    "latin",
    _split(
        """the committee|our regional office|the head of the archive|a second inspector|
        the supplier in Harlow|every member of the board|the harbor authority|the night shift|
        the finance department|the new caretaker|the author of this report|a neighbor from number 14|
        the school on Mill Lane|the district court|the chief engineer|one of the younger clerks|
        the laboratory|the town council|the railway company|nobody in the workshop|the insurer|
        Mrs. Okafor|Dr. Lindqvist|the delegation from the north|the greenhouse team|
        the printer we trust most|the weather station|the old ferry|the quarterly audit|the librarian"""
    ),
    _split(
        """has approved the revised budget|asked for a copy of the original letters|
        could not find any trace of the missing folder|delivered forty-two boxes of unsorted paper|
        will replace the broken windows on the second floor|measured the depth of the well twice|
        signed the agreement without further questions|moved the meeting to the smaller room|
        explained why the figures differ so much|wrote down what the witnesses remembered|
        planted a row of apple trees behind the mill|refused to pay for the damaged goods|
        sent a short reply and a long list of questions|counted all keys and found one too many|
        repaired the pump with parts from the old one|kept careful notes about every visitor|
        recommends a simpler form and fewer stamps|closed the bridge to heavy traffic|
        thanked everybody who had helped with the move|tested the samples for traces of copper|
        promised to return the borrowed maps|expects a quiet season with moderate prices|
        opened the envelope and read it aloud|compared both drafts word by word|
        raised the price of a season ticket by 3 percent|painted the corridor a cheerful yellow|
        asked whether the ledger is complete|shipped the remaining machines by rail"""
    ),
    _split(
        """before the end of March||on the following Tuesday|because the deadline had already passed|
        although it was raining heavily|at a cost of roughly 1,850 per month|as agreed in paragraph 7|
        in spite of several objections|while the others were still at lunch|to everybody's surprise|
        for the third time this year|so that work can begin in autumn|with the help of two volunteers|
        according to the minutes of 9 June|until a better solution is found|without telling the tenants|
        between 8:15 and 11:40|and nobody objected|after a long and friendly discussion|
        under the supervision of the county|if the weather allows it|and left before the train arrived"""
    ),
    _split(
        """Annual Report|Notes on the Harbor|Minutes of the Meeting|The Long Winter|
        Inventory of the East Wing|Survey of Small Bridges|Terms and Conditions|
        Water Supply in the Valley|Plans for the Coming Year|A Short History of the Mill|
        Safety in the Workshop|Results of the Second Trial"""
    ),
)

GERMAN = Language(
    "german",
    "latin",
    _split(
        """der Ausschuss|die Geschäftsführung|unsere Nachbarin|der Verein für Heimatpflege|das Amtsgericht|
        die städtische Bücherei|ein Mitarbeiter der Werkstatt|die Prüfstelle in Köln|der Bürgermeister|
        die zweite Schicht|das Labor|Frau Möller|der Hausmeister|die Versicherung"""
    ),
    _split(
        """hat den geänderten Haushalt bewilligt|bittet um eine Abschrift der Akten|
        konnte den fehlenden Schlüssel nicht finden|lieferte zwölf Kisten mit losem Papier|
        prüfte sämtliche Rechnungen ein zweites Mal|verschob die Sitzung in den größeren Saal|
        erklärte ausführlich die Abweichungen|lehnte den Antrag ohne Begründung ab|
        reparierte die Brücke über den Mühlbach|dankte allen für die tatkräftige Hilfe|
        las den Brief laut vor|zählte die Stühle und fand einen zu viel"""
    ),
    _split(
        """vor Ende März||trotz des schlechten Wetters|am darauffolgenden Dienstag|
        gemäß Absatz 7 der Satzung|zum dritten Mal in diesem Jahr|ohne die Mieter zu verständigen|
        mit Hilfe zweier Freiwilliger|zwischen 8.15 und 11.40 Uhr|bis auf Weiteres|
        nach langer, freundlicher Aussprache"""
    ),
    _split(
        """Jahresbericht|Protokoll der Sitzung|Übersicht der Maßnahmen|Bestandsaufnahme|
        Kündigung und Übergabe"""
    ),
)

FRENCH = Language(
    "french",
    "latin",
    _split(
        """le comité|notre bureau régional|la gardienne de l'école|le maire du village|
        une voisine très âgée|l'atelier de reliure|la bibliothèque|le chef de gare|l'assureur|
        la direction générale|un témoin"""
    ),
    _split(
        """a approuvé le budget révisé|demande une copie des pièces d'origine|
        a livré douze caisses de papier|n'a pas retrouvé la clé égarée|propose de repousser la séance|
        a réparé la fenêtre du deuxième étage|a compté les chaises à deux reprises|
        refuse de payer les dégâts|remercie chaleureusement les bénévoles|a relu la lettre à haute voix|
        espère une saison plus calme"""
    ),
    _split(
        """avant la fin du mois de février||malgré la pluie|le mardi suivant|
        selon l'article 7 du règlement|pour la troisième fois cette année|sans prévenir les locataires|
        entre huit heures et midi|à la surprise générale|jusqu'à nouvel ordre"""
    ),
    _split(
        """Rapport annuel|Procès-verbal|Règlement intérieur|Inventaire général|Éléments complémentaires"""
    ),
)

SPANISH = Language(
    "spanish",
    "latin",
    _split(
        """el comité|nuestra oficina regional|la directora de la biblioteca|el señor Núñez|
        la compañía de seguros|el laboratorio|un vecino del número 14|la alcaldía|el jefe de estación|
        la segunda inspección"""
    ),
    _split(
        """aprobó el presupuesto revisado|pidió una copia de las cartas originales|
        entregó doce cajas de papel|no encontró la llave perdida|
        explicó por qué las cifras no coinciden|reparó el puente del molino|
        aplazó la reunión una semana más|agradeció la ayuda de todos|contó las sillas dos veces|
        leyó el sobre en voz alta|plantó una hilera de manzanos"""
    ),
    _split(
        """antes de fin de año||a pesar de la lluvia|el martes siguiente|según el artículo séptimo|
        por tercera vez en lo que va del año|sin avisar a los inquilinos|entre las ocho y las once|
        después de una larga conversación"""
    ),
    _split("""Informe anual|Acta de la reunión|Condiciones generales|Inventario|Próximos años"""),
)

POLISH = Language(
    "polish",
    "latin",
    _split(
        """komisja|nasza kancelaria|biblioteka miejska|sąsiadka z naprzeciwka|rada gminy|księgowość|
        druga zmiana|spółdzielnia|pracownia konserwacji|straż pożarna"""
    ),
    _split(
        """zatwierdziła zmieniony budżet|prosi o odpis dokumentów|dostarczyła dwanaście skrzyń papieru|
        nie znalazła zgubionego klucza|przesunęła zebranie na środę|naprawiła most nad młynówką|
        policzyła krzesła po raz drugi|odrzuciła wniosek bez uzasadnienia|
        podziękowała wszystkim za pomoc"""
    ),
    _split(
        """przed końcem marca||mimo złej pogody|w następny wtorek|zgodnie z paragrafem siódmym|
        po długiej i życzliwej rozmowie|bez powiadomienia lokatorów|aż do odwołania"""
    ),
    _split("""Sprawozdanie roczne|Protokół zebrania|Spis treści|Załącznik"""),
)

RUSSIAN = Language(
    "russian",
    "cyrillic",
    _split(
        """комиссия|наша контора|городская библиотека|соседка из дома напротив|бухгалтерия|вторая смена|
        лаборатория|дирекция порта|школа на Мельничной улице|мастерская|страховая компания"""
    ),
    _split(
        """утвердила изменённый бюджет|просит копию подлинных писем|доставила двенадцать ящиков бумаги|
        не нашла потерянного ключа|перенесла собрание в малый зал|починила мост через ручей|
        дважды пересчитала стулья|отклонила заявление без объяснений|поблагодарила всех за помощь|
        объяснила, почему цифры расходятся|прочитала письмо вслух"""
    ),
    _split(
        """до конца марта||несмотря на дождь|в следующий вторник|согласно пункту 7 устава|
        в третий раз за этот год|не предупредив жильцов|после долгой дружеской беседы|вплоть до осени"""
    ),
    _split("""Годовой отчёт|Протокол заседания|Общие условия|Опись имущества|Приложение"""),
)

GREEK = Language(
    "greek",
    "greek",
    _split(
        """η επιτροπή|το γραφείο μας|η δημοτική βιβλιοθήκη|ο μηχανικός|η γειτόνισσα|το λογιστήριο|
        το εργαστήριο|ο δήμαρχος|η δεύτερη βάρδια|η ασφαλιστική εταιρεία"""
    ),
    _split(
        """ενέκρινε τον νέο προϋπολογισμό|ζήτησε αντίγραφο των επιστολών|παρέδωσε δώδεκα κιβώτια χαρτί|
        δεν βρήκε το χαμένο κλειδί|μετέφερε τη συνεδρίαση σε άλλη αίθουσα|
        επισκεύασε τη γέφυρα του μύλου|μέτρησε τις καρέκλες δύο φορές|ευχαρίστησε όλους για τη βοήθεια|
        διάβασε το γράμμα δυνατά"""
    ),
    _split(
        """πριν από το τέλος Μαρτίου||παρά τη βροχή|την επόμενη Τρίτη|σύμφωνα με το άρθρο 7|
        για τρίτη φορά φέτος|χωρίς να ειδοποιήσει τους ενοίκους|έπειτα από μακρά συζήτηση"""
    ),
    _split("""Ετήσια έκθεση|Πρακτικά συνεδρίασης|Γενικοί όροι|Παράρτημα"""),
)

LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH, POLISH, RUSSIAN, GREEK)
LATIN = tuple(language for language in LANGUAGES if language.script == "latin")

_GIVEN = _split(
    "Ada|Björn|Chiara|Dmitri|Elif|Femi|Gudrun|Hassan|Inês|Jun|Katja|Liam|Mei|Nils|Olga|Pablo|Rosa|Tom"
)
_FAMILY = _split(
    """Almeida|Berger|Costa|Dahl|Evans|Fischer|Grant|Hughes|Ivanova|Jensen|Kowalski|Lindqvist|Moreau|
    Novak|Okafor|Pérez|Quinn|Rossi|Sato|Tanaka|Ueda|Weber|Young"""
)
_STREETS = _split(
    "Mill Lane|Harbor Road|Station Street|Orchard Close|Quarry Hill|Chapel Row|Lime Avenue|Dock Street"
)
_TOWNS = _split(
    "Harlow|Eastmere|Northwick|Brookfield|Saltby|Kingsport|Ashford|Millbrook|Westhaven|Stonebridge"
)
_MONTHS = _split("January|February|March|April|May|June|July|August|September|October|November|December")
_GOODS = _split(
    """Oak shelf, 90 cm|Copy paper A4, box of 5|Desk lamp, green|Ink ribbon, black|
    Archive box, acid-free|Steel cabinet, four drawers|Repair of one window|Hourly rate, carpenter|
    Delivery and handling|Roof tiles, red|Wall paint, 10 l|Light bulbs, 12 pcs|Cleaning, staircase|
    Water meter|Pump gasket 3/4"|Garden hose, 25 m|Printed envelopes, 500|Bookbinding, half cloth|
    Rubber stamp|Extension cord, 10 m|Door handle, brass|Safety gloves, pair|Cable, per metre|
    Inspection fee|Map of the district|Paper knife|Wooden crate"""
)
_PERSON_FIELDS = _split("Name|Contact person|Name of the owner|Witness|Employer|Doctor|Name of the child")
_PLACE_FIELDS = _split("Town and postal code|Place of birth|Place of issue|Last residence")
_STREET_FIELDS = _split("Street and number|Previous address|Address for delivery|Site of the works")
_DATE_FIELDS = _split(
    "Date of birth|Date of arrival|Valid until|Date of issue|Moving in on|Date of the request"
)
_NUMBER_FIELDS = _split("Monthly rent|Account number|Telephone|Number of copies|Length in cm|Deposit paid")
_FILE_FIELDS = _split("File number|Identity card no.|Vehicle|Reference|Policy number")
_REMARK_FIELDS = _split("Remarks|Reason for request|Further details")
_REMARKS = _split("none|see letter|as agreed by phone|new roof|two cats|no objections|moving house")


@dataclass(frozen=True)
class Field:
    """A field of a form: its printed label, and what somebody would write into it."""

    label: str
    entry: str


class Phrasebook:
    """Makes up text of one language from a random generator."""

    def __init__(self, rng: np.random.Generator, language: Language = ENGLISH) -> None:
        self.rng = rng
        self.language = language

    def pick(self, phrases: tuple[str, ...]) -> str:
        """One of the phrases."""
        return phrases[int(self.rng.integers(len(phrases)))]

    def sentence(self) -> str:
        """One sentence with capital and full stop."""
        language = self.language
        parts = [self.pick(language.subjects), self.pick(language.predicates), self.pick(language.endings)]
        text = " ".join(part for part in parts if part)
        return text[0].upper() + text[1:] + ("." if self.rng.random() < 0.94 else "!")

    def paragraph(self, sentences: int) -> str:
        """Several sentences."""
        return " ".join(self.sentence() for _ in range(sentences))

    def title(self) -> str:
        return self.pick(self.language.titles)

    def person(self) -> str:
        return f"{self.pick(_GIVEN)} {self.pick(_FAMILY)}"

    def street(self) -> str:
        return f"{self.number(1, 240)} {self.pick(_STREETS)}"

    def town(self) -> str:
        return f"{self.pick(_TOWNS)} {self.number(10000, 99999)}"

    def date(self) -> str:
        return f"{self.number(1, 29)} {self.pick(_MONTHS)} {self.number(1962, 2031)}"

    def goods(self) -> str:
        """An article of an invoice."""
        return self.pick(_GOODS)

    def field(self) -> Field:
        """A field of a form with a fitting entry."""
        match self.number(0, 7):
            case 0:
                return Field(self.pick(_PERSON_FIELDS), self.person())
            case 1:
                return Field(self.pick(_PLACE_FIELDS), self.town())
            case 2:
                return Field(self.pick(_STREET_FIELDS), self.street())
            case 3:
                return Field(self.pick(_DATE_FIELDS), self.date())
            case 4:
                return Field(self.pick(_NUMBER_FIELDS), str(self.number(2, 9999)))
            case 5:
                return Field(self.pick(_FILE_FIELDS), self.reference())
        return Field(self.pick(_REMARK_FIELDS), self.pick(_REMARKS))

    def number(self, low: int, high: int) -> int:
        """A whole number, `high` excluded."""
        return int(self.rng.integers(low, high))

    def amount(self, high: float = 4000) -> float:
        """A sum of money; small sums are as likely as large ones."""
        return round(float(np.exp(self.rng.uniform(np.log(2), np.log(high)))), 2)

    def reference(self) -> str:
        """A file number such as KT-4711/82."""
        letters = "".join(chr(65 + self.number(0, 26)) for _ in range(2))
        return f"{letters}-{self.number(100, 9999)}/{self.number(10, 99)}"
