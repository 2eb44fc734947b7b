// Licences of the packages in this bundle: editor/licences.txt
import{ea as a}from"./editor/chunk-VGPSHBR7.js";export{a as createEditor};
