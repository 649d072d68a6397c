"""How people word what happens in a session, in three languages.

Cues are plain: what a program without a model can be asked to understand. Irony, hints and
paraphrase are not here. Where a phrase stands in guillemets, it is what only this message says.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases of one language; of several that mean the same, a session takes any."""

    things: tuple[str, ...]
    """What can be asked for: the first words of their names, in the order of `SLUGS`."""
    kinds: tuple[str, ...]
    goals: tuple[tuple[str, str], ...]
    """What the work is for: the name of it, and how it is stated."""
    servers: tuple[str, ...]
    measures: tuple[tuple[str, str], ...]
    """What is known of a server, as a sentence begins and within one; the last is a version."""
    stores: tuple[str, ...]
    areas: tuple[str, ...]
    """What a user may put out of bounds."""
    steps: tuple[str, ...]
    """The items of a plan."""
    opening: tuple[str, str]
    """A first message that has nothing to do with the work, and its answer."""
    asks: tuple[str, ...]
    again: tuple[str, ...]
    details: tuple[str, ...]
    """What makes asks and replies long enough to be cut."""
    narration: tuple[str, ...]
    done: tuple[str, ...]
    done_too: str
    later: str
    """The word by which something is put off."""
    deferred: tuple[str, ...]
    still_open: str
    drop: tuple[str, ...]
    dropped: tuple[str, ...]
    reopen: tuple[str, ...]
    questions: tuple[str, ...]
    unknown: tuple[str, ...]
    answer: tuple[str, ...]
    rule: tuple[str, ...]
    revoke: tuple[str, ...]
    value: str
    correct: tuple[str, ...]
    goal: tuple[str, ...]
    new_goal: tuple[str, ...]
    understood: tuple[str, ...]
    plan: str
    planned: str
    go_on: str
    went_on: str
    start: str
    stuck: str
    retry: str
    works: str
    commit: str
    commit_all: str
    committed: str
    joint: str = " "
    """What stands between two sentences."""


SLUGS = (
    "tide ferry lock berth buoy pilot cargo crane anchor beacon dredge fender jetty keel lantern"
    " mooring pontoon quay radar sluice tugboat weather wharf channel"
).split()

_ENGLISH = Phrases(
    things=tuple(f"{slug} " for slug in SLUGS),
    kinds=("export", "report", "filter", "calendar", "alarm"),
    goals=(
        ("harbor map", "a harbor map that works offline"),
        ("crew roster", "a crew roster that three ports can share"),
        ("fuel ledger", "a fuel ledger that the auditors accept"),
        ("visitor portal", "a visitor portal for the summer season"),
    ),
    servers=("gauge server", "map proxy", "mail relay", "sensor hub"),
    measures=(
        ("The port", "the port"),
        ("The timeout", "the timeout"),
        ("The version", "the version"),
    ),
    stores=("depth cache", "chart store", "radio archive", "photo index"),
    areas=("database schema", "public API", "login page", "payment module"),
    steps=(
        "move the depth soundings",
        "split the radio log",
        "sort the captain names",
        "draw the dock diagram",
        "measure the ramp angle",
        "compare the fog signals",
    ),
    opening=("«Which Python version is installed here»?", "It is Python 3.12."),
    asks=(
        "Please «add the {x}» to the harbor service, with a test for the empty case.",
        "Now «build the {x}» for the web client.",
        "Can you «write the {x}» next?",
        "«I need the {x}» in the nightly job.",
    ),
    again=("Please «take up the {x}» now.", "Please «go on with the {x}» now."),
    details=(
        "It takes the rows of the last week, sorts them by number, leaves out cancelled arrivals"
        " and writes one line for each vessel with its length, draught and captain.",
        "The harbormaster reads it every morning before the first departure and compares it with"
        " the handwritten logbook in the office at the entrance.",
        "Vessels that changed their name during the voyage appear under both names, with a remark"
        " in the rightmost column that says since when.",
        "Numbers are rounded to two decimals, and measurements from instruments without"
        " calibration are printed in italics.",
    ),
    narration=(
        "I read the module for the {x} first.",
        "Now I am writing the {x}.",
        "Next come the tests of the {x}.",
    ),
    done=(
        "The {x} is done: {n} passed.",
        "Done, {n} passed. The {x} is in place.",
        "The {x} is finished, and all {n} tests pass.",
    ),
    done_too="The {x} from before is done too: {n} passed.",
    later="later",
    deferred=(
        "Noted. I will do the {x} later.",
        "I will get to the {x} later; it stays on the list.",
    ),
    still_open="The {x} is still open.",
    drop=(
        "«Never mind the {x}», we do not need it any more.",
        "«Forget the {x}».",
        "Please «skip the {x}».",
    ),
    dropped=("All right, I leave the {x} out.", "OK, no {x} then."),
    reopen=(
        "«The {x} is broken again», please reopen it.",
        "«Reopen the {x}»: it fails again for empty rows.",
    ),
    questions=(
        "«Which folder does the {x} use»?",
        "«Where does the {x} keep its files»?",
    ),
    unknown=(
        "I have to look that up first; I will tell you later.",
        "I do not know that yet. I will answer later.",
    ),
    answer=(
        "To your question about the {x}: it uses {value}.",
        "You asked about the {x}: it uses {value}.",
    ),
    rule=("Do not touch the {x}.", "Never change the {x}."),
    revoke=(
        "«You may touch the {x} now».",
        "«You may change the {x} now».",
        "«The rule about the {x} no longer applies».",
    ),
    value="{What} of the {x} is {value}.",
    correct=(
        "No, {what} of the {x} is {value}.",
        "Correction: {what} of the {x} is {value}, not {old}.",
        "{What} of the {x} has changed, it is {value} now.",
    ),
    goal=("The goal of this work is {x}.", "My goal: {x}."),
    new_goal=(
        "Actually, forget the {old}, the goal is now {x}.",
        "Change of plans: the goal is no longer the {old}, it is now {x}.",
    ),
    understood=("Understood.", "Got it, thank you."),
    plan="«Make a plan for the season» and keep it up to date.",
    planned="The plan stands.",
    go_on="Go on with the plan.",
    went_on="The plan is up to date.",
    start="Please «get {x} to work».",
    stuck='I cannot go on: {x} fails with "{error}".',
    retry="«Try {x} again», the network is back.",
    works="{x} works now.",
    commit="Please «commit the {x}».",
    commit_all="Please commit everything so far.",
    committed="Committed as {id}.",
)

_GERMAN = Phrases(
    things=tuple(
        f"{word}-"
        for word in (
            "Gezeiten Fähren Schleusen Liegeplatz Bojen Lotsen Fracht Kran Anker Leuchtturm Bagger"
            " Fender Molen Kiel Laternen Festmacher Ponton Kai Radar Wehr Schlepper Wetter Werft"
            " Fahrwasser"
        ).split()
    ),
    kinds=("Export", "Bericht", "Filter", "Kalender", "Alarm"),
    goals=(
        ("Hafenkarte", "eine Hafenkarte, die ohne Netz funktioniert"),
        ("Besatzungsliste", "eine Besatzungsliste, die drei Häfen gemeinsam führen"),
        ("Treibstoffbilanz", "eine Treibstoffbilanz, die der Prüfer annimmt"),
        ("Besucherseite", "eine Besucherseite für die Sommersaison"),
    ),
    servers=("Pegelserver", "Kartenproxy", "Mailverteiler", "Sensorknoten"),
    measures=(
        ("Der Port", "der Port"),
        ("Der Timeout", "der Timeout"),
        ("Die Version", "die Version"),
    ),
    stores=("Tiefenspeicher", "Kartenspeicher", "Funkspeicher", "Fotospeicher"),
    areas=("Datenbankschema", "Login-Formular", "Zahlungsmodul", "Deploy-Skript"),
    steps=(
        "die Tiefenmessungen verschieben",
        "das Funkprotokoll aufteilen",
        "die Kapitänsnamen sortieren",
        "das Dockdiagramm zeichnen",
        "den Rampenwinkel messen",
        "die Nebelsignale vergleichen",
    ),
    opening=("«Welche Python-Version ist hier installiert»?", "Es ist Python 3.12."),
    asks=(
        "Bitte «bau den {x} ein», mit einem Test für den leeren Fall.",
        "Jetzt «schreib den {x}» für den Web-Client.",
        "Kannst du als Nächstes «den {x} bauen»?",
        "«Ich brauche den {x}» im nächtlichen Lauf.",
    ),
    again=("Bitte «mach jetzt den {x}».", "Bitte «mach mit dem {x} weiter»."),
    details=(
        "Er nimmt die Zeilen der letzten Woche, sortiert sie nach der Nummer, lässt abgesagte"
        " Ankünfte weg und schreibt für jedes Schiff eine Zeile mit Länge, Tiefgang und Kapitän.",
        "Die Hafenmeisterin liest ihn jeden Morgen vor der ersten Abfahrt und vergleicht ihn mit"
        " dem handgeschriebenen Logbuch im Verwaltungsgebäude an der Einfahrt.",
        "Schiffe, die während der Reise umbenannt wurden, stehen unter beiden Namen da, mit einer"
        " Bemerkung in der rechten Spalte, seit wann das so ist.",
        "Zahlen werden auf zwei Nachkommastellen gerundet, und Messwerte von Instrumenten ohne"
        " Kalibrierungsbescheinigung werden kursiv gedruckt.",
    ),
    narration=(
        "Ich lese zuerst das Modul für den {x}.",
        "Jetzt schreibe ich den {x}.",
        "Als Nächstes kommen die Tests für den {x}.",
    ),
    done=(
        "Der {x} ist fertig: {n} Tests bestanden.",
        "Erledigt, {n} Tests bestanden. Der {x} ist eingebaut.",
        "Der {x} ist abgeschlossen, alle {n} Tests laufen durch.",
    ),
    done_too="Der {x} von vorhin ist jetzt auch fertig: {n} Tests bestanden.",
    later="später",
    deferred=(
        "Notiert. Den {x} mache ich später.",
        "Um den {x} kümmere ich mich später, er bleibt auf der Liste.",
    ),
    still_open="Der {x} ist noch offen.",
    drop=(
        "«Vergiss den {x}», wir brauchen ihn nicht mehr.",
        "«Lass den {x} weg».",
        "«Den {x} brauchst du nicht mehr zu machen».",
    ),
    dropped=("In Ordnung, den {x} lasse ich weg.", "Gut, dann ohne den {x}."),
    reopen=(
        "«Der {x} ist wieder kaputt», bitte mach ihn noch einmal auf.",
        "«Öffne den {x} wieder»: bei leeren Zeilen bricht er wieder ab.",
    ),
    questions=(
        "«Welchen Ordner nutzt der {x}»?",
        "«Wo legt der {x} seine Dateien ab»?",
    ),
    unknown=(
        "Das muss ich erst nachsehen, ich sage es dir später.",
        "Das weiß ich noch nicht. Ich antworte später.",
    ),
    answer=(
        "Zu deiner Frage nach dem {x}: er nutzt {value}.",
        "Du hattest nach dem {x} gefragt: er nutzt {value}.",
    ),
    rule=("Fass das {x} nicht an.", "Ändere das {x} niemals."),
    revoke=(
        "«Du darfst das {x} jetzt anfassen».",
        "«Du darfst das {x} jetzt ändern».",
        "«Die Regel zum {x} gilt nicht mehr».",
    ),
    value="{What} vom {x} ist {value}.",
    correct=(
        "Nein, {what} vom {x} ist {value}.",
        "Korrektur: {what} vom {x} ist {value}, nicht {old}.",
        "{What} vom {x} hat sich geändert, jetzt gilt {value}.",
    ),
    goal=("Das Ziel dieser Arbeit ist {x}.", "Mein Ziel: {x}."),
    new_goal=(
        "Doch anders: vergiss die {old}, das Ziel ist jetzt {x}.",
        "Planänderung: das Ziel ist nicht mehr die {old}, sondern jetzt {x}.",
    ),
    understood=("Verstanden.", "Alles klar, danke."),
    plan="«Mach einen Plan für die Saison» und halte ihn aktuell.",
    planned="Der Plan steht.",
    go_on="Mach mit dem Plan weiter.",
    went_on="Der Plan ist auf dem neuesten Stand.",
    start="Bitte «bring {x} zum Laufen».",
    stuck='Ich komme nicht weiter: {x} bricht ab mit "{error}".',
    retry="«Versuch {x} noch einmal», das Netz ist wieder da.",
    works="{x} läuft jetzt.",
    commit="Bitte «committe den {x}».",
    commit_all="Bitte committe alles bisher.",
    committed="Committet als {id}.",
)

_CHINESE = Phrases(
    things=tuple(
        (
            "潮汐 渡轮 船闸 泊位 浮标 引航 货物 吊车 锚地 灯塔 疏浚 护舷"
            " 栈桥 龙骨 信号灯 系泊 浮桥 岸线 雷达 水闸 拖船 天气 船坞 航道"
        ).split()
    ),
    kinds=("导出", "报告", "筛选", "日历", "警报"),
    goals=(
        ("港口地图", "一个可以离线使用的港口地图"),
        ("船员名册", "一个三个港口共用的船员名册"),
        ("燃料账本", "一个审计认可的燃料账本"),
        ("访客门户", "一个面向夏季的访客门户"),
    ),
    servers=("水位服务器", "地图代理", "邮件网关", "传感器节点"),
    measures=(("端口", "端口"), ("超时", "超时"), ("版本", "版本")),
    stores=("深度缓存", "海图仓库", "电台档案", "照片索引"),
    areas=("数据库结构", "登录页面", "支付模块", "部署脚本"),
    steps=(
        "迁移测深数据",
        "拆分电台日志",
        "整理船长姓名",
        "绘制船台示意图",
        "测量坡道角度",
        "比较雾号信号",
    ),
    opening=("«这里装的是哪个 Python 版本»？", "是 Python 3.12。"),
    asks=(
        "请在港口服务里«添加{x}»，并为空数据写一个测试。",
        "现在给网页端«开发{x}»。",
        "接下来能«写一下{x}»吗？",
        "夜间任务里«需要{x}»。",
    ),
    again=("请现在«动手做{x}»。", "请现在«继续做{x}»。"),
    details=(
        "它读取最近一周的记录，按编号排序，去掉已经取消的到港，然后为每条船写一行，"
        "包含船身长度、吃水和船长姓名。",
        "港务长每天早上在第一班船离港之前阅读它，并且和入口处办公室里的手写航海日志进行对比。",
        "航行途中改过名字的船用两个名字列出，并在最右边一列注明从什么时候开始改名。",
        "数字保留两位小数，没有校准证书的仪器的测量值用斜体打印。",
    ),
    narration=("我先读一下{x}的模块。", "现在我来写{x}。", "接下来运行{x}的测试。"),
    done=(
        "{x}已经完成，{n} 个测试通过。",
        "完成了，{n} 个测试通过，{x}已经就位。",
        "{x}做好了，全部 {n} 个测试通过。",
    ),
    done_too="之前的{x}也完成了，{n} 个测试通过。",
    later="稍后",
    deferred=("记下了，{x}稍后再做。", "{x}我稍后处理，先留在清单上。"),
    still_open="{x}还没做。",
    drop=("«不用做{x}了»，我们不需要了。", "«别做{x}了»。", "«取消{x}»。"),
    dropped=("好的，{x}不做了。", "好，去掉{x}。"),
    reopen=("«{x}又坏了»，请重新处理。", "«重新打开{x}»，空数据时又出错了。"),
    questions=("«{x}用的是哪个目录»？", "«{x}把文件放在哪里»？"),
    unknown=("这个我要先查一下，稍后告诉你。", "我还不知道，稍后回答。"),
    answer=("关于你问的{x}：它用的是 {value}。", "你之前问到{x}：它用的是 {value}。"),
    rule=("不要修改{x}。", "禁止改动{x}。"),
    revoke=("«现在可以修改{x}了»。", "«现在可以改动{x}了»。", "«关于{x}的限制取消了»。"),
    value="{x}的{what}是 {value}。",
    correct=(
        "不对，{x}的{what}是 {value}。",
        "更正：{x}的{what}是 {value}，不是 {old}。",
        "{x}的{what}改了，现在是 {value}。",
    ),
    goal=("这项工作的目标是{x}。", "我的目标：{x}。"),
    new_goal=(
        "算了，不做{old}了，现在的目标是{x}。",
        "计划有变：目标不再是{old}，现在是{x}。",
    ),
    understood=("明白了。", "好的，知道了。"),
    plan="«给这个航季做一个计划»，并随时更新。",
    planned="计划做好了。",
    go_on="继续按计划做。",
    went_on="计划已经更新。",
    start="请«让 {x} 跑通»。",
    stuck='我没法继续：{x} 报错 "{error}"。',
    retry="«再试一次 {x}»，网络恢复了。",
    works="{x} 现在可以了。",
    commit="请«提交{x}»。",
    commit_all="请提交目前的全部改动。",
    committed="已提交为 {id}。",
    joint="",
)

PHRASES = {"English": _ENGLISH, "German": _GERMAN, "Chinese": _CHINESE}
LANGUAGES = tuple(PHRASES)
