"""The shapes of vendors' tokens, as tables.

A row is: literal prefix, alphabet of the rest, its least and greatest length (`-`: no limit),
and what more the rest must show. `any` means that the shape is proof enough; `varied` refuses
stand-ins such as `xxxx`; `random` also refuses names that happen to begin like a token, and
`uneven` refuses what mostly counts up the alphabet. Of hexadecimal ones less variety is asked.
Lengths are those that vendors document, or a little looser where they have changed before.

`SERVICES` are names beside which a generated value is a secret, whatever else it is called. Those
of `EVERYDAY` are words of sentences too, and need `key` or `token` behind them.
"""

SERVICES = """
abstractapi abuseipdb accuweather adafruit adobe adzuna airbrake airship airtable aiven algolia
alibaba alienvault aliyun amadeus ambee amplitude anthropic anypoint anyscale apiflash apify
apilayer apollo appcenter apptivo artifactory asana assemblyai auth0 authy aviationstack aylien
ayrshare bannerbear baremetrics baseten bitbucket bitfinex bitly bitmex bitrise bittrex bitwarden
blazemeter blynk borgbase braintree brandfetch browserstack browshot bugherd bugsnag buildkite
buttercms calendly capsulecrm carboninterface caspio censys cerebras chartmogul checkly checklyhq
circleci clarifai clearbit clicksend clickup clockify closecrm cloudant cloudconvert cloudflare
cloudinary cloudmersive cloudsmith codacy codeclimate codecov codemagic cohere coinapi coinbase
coinlayer cometml confluent contentful convertkit countrylayer coveralls crowdin cryptocompare
currencyfreaks currencylayer currencyscoop currentsapi customerio d7network databento datadog
datagov deepai deepgram deepl deepseek detectify detectlanguage diffbot digitalocean discord disqus
docusign doppler dotdigital droneci dropbox dwolla dynatrace edamam edenai elasticemail elevenlabs
endorlabs etherscan etsy eventbrite everhour facebook fastforex fastly fetchrss fibery filestack
finicity finnhub firebase fixerio fleetbase flexport flickr flightlabs flutterwave formio foursquare
freshbooks freshdesk friendli fullstory geoapify geocodify geocodio getgeoapi getresponse giphy
gitea gitter glassnode godaddy grafana graphcms graphhopper groovehq groq gtmetrix gumroad gyazo
happyscribe helpscout hereapi heroku holidayapi honeycomb hubspot huggingface hypertrack iconfinder
iexcloud imagga infobip infura insightly instamojo instantly intercom intrinio ipapi ipdata
ipgeolocation ipify ipinfo ipstack jenkins jfrog jotform jumpcloud kagi kaleyra keygen kickbox
klaviyo klingai kraken kucoin langfuse langsmith lastfm launchdarkly leadfeeder lemlist lemonsqueezy
linenotify linkedin linkpreview liveagent livekit livestorm llamacloud locationiq loggly loginradius
logzio lokalise mailboxlayer mailchimp mailerlite mailgun mailjet mailmodo mailsac mandrill mapbox
mapquest marketstack mattermost mavenlink maxmind meaningcloud mediastack meistertask meraki
messagebird metaapi mixpanel mockaroo moesif monkeylearn moosend moralis nasdaq netlify netsuite
newrelic newsapi newscatcher nexmo nftport nicereply npm numverify nutritionix nylas nytimes oanda
okta omnisend onelogin onepagecrm onesignal openai opencagedata openrouter openuv openweather
openweathermap opsgenie optimizely owm packagecloud pagerduty parsehub parseur partnerstack paymongo
paypal paystack pdflayer pdfshift peopledatalabs pepipost pexels pipedream pipedrive pivotaltracker
pixabay plaid plivo poeditor poloniex polygonio positionstack postageapp postman postmark privateai
proxycrawl pubnub pushbullet pusher pyowm qubole rapidapi razorpay rebrandly replicate ringcentral
rollbar runpod salesblink salesflare salesforce sauce saucelabs scaleway scalr scraperapi
scrapestack scrapfly scrapingbee screenshotapi screenshotlayer securitytrails sendbird sendgrid
sentry serpapi serper serphouse serpstack shippo shodan shopify shotstack shutterstock sinch
smartsheet smartystreets snipcart snyk softlayer sonarcloud spoonacular sportradar spotify
squarespace sslmate stackhawk statuscake statuspage storyblok strava stytch sumologic supabase
surveymonkey swiftype tableau tavily taxjar teamcity telegram telesign telnyx terraform textmagic
thingsboard ticketmaster tiingo todoist togetherai toggl tomorrowio tomtom tradier transferwise
travis trello twelvedata twilio twitch twitter typeform ubidots unsplash uploadcare uptimerobot
urlscan userflow userstack vatlayer vercel virustotal visualcrossing vonage voyageai vultr wakatime
walkscore wandb weatherapi weatherbit weatherstack webex webflow whoxy wistia wrike yandex
youneedabudget zendesk zenrows zenscrape zenserp zerobounce zerotier zipcodeapi zoho zulipchat
"""

EVERYDAY = """
agora atlassian aws azure beamer binance box branch canva circle clay clojars close comet confluence
copper courier dd docker dockerhub fal fb figma fireworks fireworksai front gcp gemini github gitlab
google harness harvest hf hive hunter ibm jira lark lightning linear lob looker maps miro mistral
modal monday mux notion nuget perplexity persona pinata pinecone podio polygon pypi ramp relic
rubygems segment shortcut slack sonar splunk square stripe sumo zoom
"""

MODELS = """
sk-ant- slug 80 - varied
sk-ant- slug 20 79 uneven
sk-proj- slug 20 - random
sk-svcacct- slug 20 - random
sk-admin- slug 20 - random
sk-or-v1- hex 40 - varied
sk-lf- hexdash 36 36 varied
sk- slug 20 - random
sess- alnum 40 40 random
xai- alnum 60 - varied
gsk_ alnum 40 - varied
hf_ alnum 30 - random
holdfast_ slug 43 43 random
api_org_ alnum 34 34 random
r8_ alnum 37 37 random
pplx- alnum 40 - varied
nvapi- slug 50 - varied
lsv2_pt_ word 32 - varied
lsv2_sk_ word 32 - varied
pcsk_ word 40 - random
csk- alnum 40 - random
fw_ alnum 20 - random
tvly- slug 20 - random
jina_ alnum 40 - random
pa- slug 43 43 random
fc- hex 32 32 varied
esecret_ alnum 20 - random
AIzaSy slug 33 33 varied
GOCSPX- slug 20 - varied
ABSK alnum 30 - random
bedrock-api-key- alnum 30 - varied
sk-api- slug 60 - varied
sk_car_ alnum 20 - random
llx- alnum 40 - random
tgp_v1_ slug 40 50 varied
wandb_v1_ word 60 - varied
key_ hex 64 64 varied
key_ hex 28 28 varied
flp_ alnum 46 50 random
e2b_ hex 40 40 varied
m0- alnum 40 40 random
cr- hex 58 58 varied
pylf_v1_ word 40 - random
helicone- slug 30 - random
rpa_ alnum 40 48 random
"""

FORGES = """
ghp_ alnum 30 255 varied
gho_ alnum 30 255 varied
ghu_ alnum 30 255 varied
ghs_ alnum 30 255 varied
ghr_ alnum 30 255 varied
github_pat_ word 36 255 varied
glpat- slug 20 300 varied
gldt- slug 20 300 varied
glft- slug 20 50 varied
glsoat- slug 20 50 varied
glrt- slug 20 300 varied
glrtr- slug 20 50 varied
glcbt- slug 20 60 varied
glffct- slug 20 20 varied
glimt- slug 25 25 varied
glptt- slug 40 40 varied
glagent- slug 50 1024 varied
gloas- slug 64 64 varied
GR1348941 slug 20 50 varied
sgp_ hex 40 40 varied
sgp_local_ hex 40 40 varied
sgp_ word 57 57 varied
sgp_ alnum 64 64 varied
slk_ hex 64 64 varied
sqp_ hex 40 40 varied
squ_ hex 40 40 varied
sqa_ hex 40 40 varied
ATATT3 slug 60 - varied
ATCTT3 slug 60 - varied
ATBB alnum 28 36 random
ATTA hex 64 72 varied
bkua_ lower 40 60 varied
CCIPAT_ word 40 - varied
CCIPRJ_ word 40 - varied
npm_ alnum 36 36 varied
pypi- slug 50 - varied
rubygems_ hex 48 48 varied
oy2 lower 43 43 varied
cio alnum 32 32 random
CLOJARS_ lower 60 60 varied
dckr_pat_ slug 20 40 varied
dckr_oat_ slug 20 40 varied
AKC alnum 60 - varied
AKCp alnum 10 - any
cmVmd alnum 59 59 varied
API- upper 25 27 random
lin_api_ alnum 40 40 varied
lin_oauth_ alnum 40 - varied
ntn_ alnum 43 50 varied
secret_ alnum 43 43 random
PMAK- hexdash 59 59 varied
PMAT- alnum 20 - random
figd_ slug 38 - varied
figu_ slug 38 - varied
rdme_ lower 70 70 varied
tfp_ slug 40 60 varied
apify_api_ alnum 34 44 varied
aio_ alnum 28 28 random
CFPAT- slug 43 43 varied
p8e- alnum 32 32 random
AIK_CI_ alnum 30 - random
bkaa_ slug 60 - varied
bkaj_ slug 60 - varied
bkar_ slug 60 - varied
bkct_ slug 60 - varied
bkpt_ slug 60 - varied
BBDC- slug 30 - random
ion_ alnum 42 42 random
mergify_application_key_ slug 40 - varied
odt_ alnum 32 40 random
vtwn_ slug 30 - random
tss_ slug 24 40 random
ddp_ alnum 36 40 random
ddw_ alnum 36 40 random
ddo_ alnum 36 40 random
jca_ alnum 40 - random
ovsxp_ hexdash 36 36 varied
ovsxat_ hexdash 36 36 varied
waka_ hexdash 36 36 varied
cal_live_ hex 32 32 varied
cal_live_ alnum 20 - random
expo_ slug 38 44 random
RGAPI- hexdash 36 36 varied
nyk_v0_ alnum 60 70 varied
glwt- slug 20 50 varied
"""

CLOUDS = """
AKIA upper 16 16 any
ASIA upper 16 16 any
ABIA upper 16 16 any
ACCA upper 16 16 any
A3T upper 17 17 any
LTAI alnum 16 26 random
da2- lower 26 26 varied
AKID alnum 32 32 random
dop_v1_ hex 64 64 varied
doo_v1_ hex 64 64 varied
dor_v1_ hex 64 64 varied
shpat_ hex 32 32 varied
shpca_ hex 32 32 varied
shppa_ hex 32 32 varied
shpss_ hex 32 32 varied
shpua_ hex 32 32 varied
dapi hexdash 32 34 varied
glc_ slug 20 - random
glsa_ word 41 41 varied
hvs_ slug 24 - random
HRKU- slug 36 70 varied
nfp_ alnum 40 40 varied
nfc_ alnum 40 40 varied
sntryu_ hex 64 64 varied
sntrys_ slug 12 - varied
NRAK- alnum 27 27 varied
NRJS- hex 19 19 varied
NRII- slug 32 32 varied
NRRA- hex 42 42 varied
AGE-SECRET-KEY-1 upper 58 58 varied
AGE-SECRET-KEY-PQ-1 upper 58 58 varied
AGE-PLUGIN- slug 50 - varied
ops_ slug 200 - varied
A3- slug 35 40 random
fo1_ slug 43 43 varied
fm1a_ slug 20 - varied
fm1r_ slug 20 - varied
fm2_ slug 20 - varied
EZAK alnum 54 54 random
EZTK alnum 54 54 random
pul- hex 40 40 varied
pscale_tkn_ slug 32 64 varied
pscale_oauth_ slug 32 64 varied
pscale_pw_ slug 32 64 varied
pnu_ alnum 36 36 varied
pnb_ alnum 36 36 varied
ico- alnum 32 32 varied
tskey- slug 20 - varied
rnd_ alnum 28 - random
sb_secret_ slug 20 - varied
napi_ alnum 48 - random
AVNS_ slug 18 - random
xaat- hexdash 36 36 varied
xapt- hexdash 36 36 varied
tk-us- slug 48 48 varied
sm_pat_ alnum 16 16 varied
sm_aat_ alnum 16 16 varied
sm_sat_ alnum 16 16 varied
4b1d alnum 38 38 varied
s-s4t2af- hex 64 64 varied
s-s4t2ud- hex 64 64 varied
u-s4t2af- hex 64 64 varied
u-s4t2ud- hex 64 64 varied
vcp_ slug 24 - random
vck_ slug 24 - random
vci_ slug 24 - random
vca_ slug 24 - random
vcr_ slug 24 - random
vercel_blob_rw_ word 24 - random
cfut_ slug 40 - varied
cfat_ slug 40 - varied
AQVN slug 35 38 random
api- hexdash 36 36 varied
sdk- hexdash 36 36 varied
phx_ alnum 40 - random
zpka_ word 30 - random
ngrok_ alnum 30 - random
dnkey- slug 30 - random
convex_ alnum 40 - random
EXO alnum 24 27 random
dvc_server_ word 16 - random
dvc_client_ word 16 - random
dvc_mobile_ word 16 - random
gcntfy- slug 60 - varied
mdb_sa_sk_ slug 40 - varied
phc_ word 40 - random
private_ alnum 24 - random
rootly_ hex 64 64 varied
samsara_api_ alnum 24 - random
sbp_ slug 40 44 random
unkey_ alnum 20 - random
hcaik_ lower 50 70 varied
hcamk_ lower 50 70 varied
hcxik_ lower 50 70 varied
os_v2_app_ lower 90 - varied
os_v2_org_ lower 90 - varied
nf- alnum 32 - random
live_auth_ hex 32 32 varied
test_auth_ hex 32 32 varied
akab- slug 30 40 varied
SWMTKN-1- slug 70 80 varied
SWMKEY-1- alnum 40 50 varied
NRBR- hex 19 20 varied
cfk_ alnum 40 60 varied
phr_ alnum 40 60 random
phs_ alnum 40 60 random
pha_ alnum 40 60 random
cosmo_ hex 32 32 varied
sbp_v0_ hex 40 40 varied
shptka_ hex 32 32 varied
dos_v1_ hex 64 64 varied
3MVG alnum 60 - random
"""

MESSAGES_AND_MONEY = """
sk_live_ alnum 10 250 varied
sk_test_ alnum 10 250 varied
sk_prod_ alnum 10 250 varied
rk_live_ alnum 10 250 varied
rk_test_ alnum 10 250 varied
rk_prod_ alnum 10 250 varied
sk_ hex 40 64 varied
whsec_ alnum 24 - random
xkeysib- slug 80 82 varied
xsmtpsib- slug 80 82 varied
key- hex 32 32 varied
pubkey- hex 32 32 varied
AC lower 32 32 any
SK lower 32 32 any
sq0atp- slug 22 22 varied
sq0csp- slug 43 43 varied
EAAA slug 56 62 random
EAAA alnum 63 - random
EAA alnum 40 - random
EAACEdEose0cBA alnum 20 - varied
duffel_test_ slug 43 43 varied
duffel_live_ slug 43 43 varied
FLWSECK- hexdash 32 36 varied
FLWSECK_TEST- slug 32 40 varied
FLWPUBK- hexdash 32 36 varied
fio-u- slug 64 64 varied
live_ slug 40 42 random
shippo_live_ hex 40 40 varied
shippo_test_ hex 40 40 varied
access-sandbox- hexdash 36 36 varied
access-development- hexdash 36 36 varied
access-production- hexdash 36 36 varied
pat-na1- hexdash 36 36 varied
pat-eu1- hexdash 36 36 varied
rzp_live_ alnum 14 24 varied
pdl_live_ word 30 - varied
re_ word 30 40 random
xapp- slug 30 - random
xoxa- slug 8 - random
xoxb- slug 16 - random
xoxp- slug 16 - random
xoxo- slug 16 - random
xoxs- slug 16 - random
xoxr- slug 8 - random
xoxe- slug 40 - random
xoxc- slug 16 - random
xoxd- slug 16 - random
AAAAAAAAAAAAAAAAAAAAA alnum 60 - varied
b_ slug 44 44 random
test_ lower 35 35 random
FLWSECK_TEST- lower 12 12 random
flb_live_ alnum 20 - any
flb_test_ alnum 20 - any
live_pub_ lower 31 31 random
test_pub_ lower 31 31 random
mercury_production_ word 40 - varied
persona_production_ slug 20 - random
persona_sandbox_ slug 20 - random
rzp_test_ alnum 14 24 varied
pdl_sdbx_ word 30 - varied
xnd_production_ alnum 40 - varied
xnd_development_ alnum 40 - varied
polar_pat_ slug 20 - random
polar_oat_ slug 30 - random
IGQVJ alnum 80 - varied
ak_ slug 20 60 random
uak_ slug 20 60 random
oak_ slug 20 60 random
bb_live_ slug 20 - random
lsk_ alnum 30 - random
highnote_ slug 30 - random
"""

# Prefixes that no ending of a file's name has.
EVEN_AFTER_DOT = tuple(
    b"""ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1-
    sk_live_ rk_live_ sk_test_ npm_ pypi- hf_ xapp- AIza dop_v1_ shpat_ gsk_""".split()
)
